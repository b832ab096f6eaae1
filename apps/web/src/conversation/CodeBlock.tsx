import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon.tsx';

const COPIED_MS = 1500;

/** Preformatted text with a button that copies it. */
export function CodeBlock({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const pre = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(pre.current?.textContent ?? '');
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  const label = t(copied ? 'copied' : 'copy');
  return (
    <div className="code-block">
      <pre ref={pre}>{children}</pre>
      <button
        type="button"
        className="icon-button copy"
        aria-label={label}
        title={label}
        onClick={() => void copy().catch(() => undefined)}
      >
        <Icon name={copied ? 'check' : 'copy'} size={16} />
      </button>
    </div>
  );
}
