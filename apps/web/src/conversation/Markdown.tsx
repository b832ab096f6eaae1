import { memo, useMemo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { markdownBlocks } from '../text/markdown-blocks.ts';
import { safeUrl } from '../text/safe-url.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { ImageLink } from './ImageLink.tsx';

const plugins = [remarkGfm];

/** Elements that differ from plain HTML. Raw HTML in the text stays text: no plugin turns it into elements. */
const components: Components = {
  a: ({ href, children }) => {
    const url = safeUrl(href);
    if (!url) return <span className="dead-link">{children}</span>;
    return (
      <a href={url} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  },
  img: ({ src, alt }) => <ImageLink src={typeof src === 'string' ? src : undefined} alt={alt ?? ''} />,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="table-scroll">
      <table>{children}</table>
    </div>
  ),
};

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={keepUrl}>
      {text}
    </ReactMarkdown>
  );
});

/** A model's markdown. Only the block that grows is rendered again. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => markdownBlocks(text), [text]);
  return (
    <div className="md">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <Block key={index} text={block} />
      ))}
    </div>
  );
}

/** The components above decide about addresses, so that a refused link can still show its text. */
function keepUrl(url: string): string {
  return safeUrl(url) ?? '';
}
