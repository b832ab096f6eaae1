import { memo, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNow } from '../hooks/use-now.ts';
import { formatDuration, formatRunning, spanMs } from '../text/duration.ts';
import { readToolCall, readToolResult } from '../text/tool-call.ts';
import { Icon, type IconName } from '../ui/Icon.tsx';
import type { FileChange, Item, ProcessRecord } from '../wire/types.ts';
import { ToolDetails } from './ToolDetails.tsx';

interface Props {
  call: Item;
  result: Item | null;
  process: ProcessRecord | null;
  change: FileChange | null;
  threadId: string;
}

/** One tool call: a line that says what, how it went and how long; opened, its arguments and result. */
export const ToolCard = memo(function ToolCard({ call, result, process, change, threadId }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const details = useId();
  const tool = readToolCall(call);
  const outcome = result ? readToolResult(result) : null;
  const status = call.status === 'running' ? 'running' : call.status;
  const code = process?.exitCode ?? outcome?.exitCode ?? null;
  const failed = status === 'failed' || outcome?.ok === false || (code !== null && code !== 0);
  const shown = failed && status === 'completed' ? 'failed' : status;
  return (
    <section className={`tool tool-${shown}`} data-tool={tool.name} data-status={shown}>
      <button
        type="button"
        className="tool-head"
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
      >
        <Icon name={iconOf(tool.name)} size={16} />
        <span className="tool-name">{tool.name}</span>
        <span className="tool-summary">{tool.summary}</span>
        {change?.additions !== undefined && (
          <span className="tool-lines">
            <span className="added">+{change.additions}</span> <span className="removed">−{change.deletions ?? 0}</span>
          </span>
        )}
        {code !== null && code !== 0 && <span className="tool-exit">{t('tool.exit', { code })}</span>}
        <span className="tool-status">
          <StatusMark status={shown} />
          <span className="visually-hidden">{labelOf(shown, t)}</span>
          <Elapsed call={call} result={result} measured={outcome?.durationMs ?? null} />
        </span>
        <Icon name="chevron" size={16} />
      </button>
      {open && (
        <div id={details} className="tool-body">
          <ToolDetails
            tool={tool}
            reasoning={call.data.reasoningContent}
            outcome={outcome}
            process={process}
            change={change}
            threadId={threadId}
          />
        </div>
      )}
    </section>
  );
});

type Status = 'running' | 'streaming' | 'completed' | 'failed' | 'cancelled';

function labelOf(status: Status, t: ReturnType<typeof useTranslation>['t']): string {
  return t(status === 'streaming' ? 'tool.running' : `tool.${status}`);
}

function StatusMark({ status }: { status: Status }) {
  if (status === 'completed') return <Icon name="check" size={14} />;
  if (status === 'failed') return <Icon name="failed" size={14} />;
  if (status === 'cancelled') return <Icon name="stop" size={14} />;
  return <span className="dot" />;
}

function Elapsed({ call, result, measured }: { call: Item; result: Item | null; measured: number | null }) {
  const running = call.status === 'running';
  const now = useNow(running);
  const text = running
    ? formatRunning(now - Date.parse(call.createdAt))
    : formatDuration(measured ?? spanMs(call.createdAt, result?.createdAt ?? call.updatedAt) ?? 0);
  return <span className="tool-time">{text}</span>;
}

function iconOf(name: string): IconName {
  if (name.startsWith('process_')) return 'terminal';
  if (name === 'grep' || name === 'glob') return 'search';
  if (name === 'write' || name === 'edit') return 'pencil';
  return name === 'list' ? 'folder' : 'file';
}
