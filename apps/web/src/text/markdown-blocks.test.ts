import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { markdownBlocks } from './markdown-blocks.ts';

const render = (text: string) =>
  renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, text))
    .replace(/\n+/g, '\n')
    .trim();
const renderBlocks = (text: string) => markdownBlocks(text).map(render).join('\n').replace(/\n+/g, '\n').trim();

const pieces = [
  'A paragraph\nof two lines.',
  '# A heading',
  '- one\n- two',
  '- loose\n\n- list',
  '* other marker',
  '1. first\n2. second',
  '1. third\n\n   more of it',
  '```js\nconst a = 1;\n\n# no heading\n```',
  '~~~\nunclosed `fence`',
  '    indented code',
  '> quote\n\n> another',
  '| a | b |\n| - | - |\n| 1 | 2 |',
  'Title\n=====',
  '[a link][ref] and [another][none]',
  '[ref]: https://example.org/x',
  '---',
  '<div>\nraw\n</div>',
  '- item\n\n  ```\n  code\n\n  more\n  ```',
  '`` ` ``` ``',
];

describe('markdownBlocks', () => {
  it('means the same in blocks as in one piece', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.join('\n\n');
        expect(renderBlocks(text)).toBe(render(text));
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  it('keeps finished blocks as they are while a text grows', () => {
    const text = 'One.\n\n```\na\n\nb\n```\n\n- x\n- y\n\nEnd of it';
    const final = markdownBlocks(text);
    for (let length = 1; length < text.length; length += 1) {
      const blocks = markdownBlocks(text.slice(0, length));
      expect(blocks.slice(0, -1)).toEqual(final.slice(0, blocks.length - 1));
    }
  });
});
