import type { WireEvent } from '@rookery/protocol';

export interface PrinterOutput {
  /** The answer. */
  out(text: string): void;
  /** Tool calls, status and failures. */
  err(text: string): void;
}

export interface RunPrinter {
  event(event: WireEvent): void;
  /** Set once the run has ended. */
  settled(): { status: string; reasonCode: string | null } | null;
}

interface ShownItem {
  id: string;
  kind: string;
  role: string | null;
  status: string;
  content: unknown;
  data: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
}

/** Without control characters, which could move the cursor or write outside the line. Keeps line breaks and tabs. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

const short = (text: string, length: number): string => {
  const line = plain(text).replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

function seconds(item: ShownItem): string {
  const ms = Date.parse(item.updatedAt) - Date.parse(item.createdAt);
  return ms >= 1000 ? ` (${(ms / 1000).toFixed(1)} s)` : ms > 0 ? ` (${ms} ms)` : '';
}

/** Prints one run as its events come: the answer's text as it grows, tool calls and status beside it. */
export function printRun(runId: string, output: PrinterOutput): RunPrinter {
  const shown = new Map<string, number>();
  let lineOpen = false;
  let end: { status: string; reasonCode: string | null } | null = null;

  const answer = (itemId: string, text: string) => {
    shown.set(itemId, (shown.get(itemId) ?? 0) + text.length);
    const clean = plain(text);
    if (clean === '') return;
    output.out(clean);
    lineOpen = !clean.endsWith('\n');
  };
  const closeLine = () => {
    if (lineOpen) output.out('\n');
    lineOpen = false;
  };
  const note = (text: string) => {
    closeLine();
    output.err(`${text}\n`);
  };

  const completed = (item: ShownItem) => {
    if (item.kind === 'message' && item.role === 'assistant' && typeof item.content === 'string') {
      // What no delta carried: an answer that came in one piece, or after a gap that was healed.
      answer(item.id, item.content.slice(shown.get(item.id) ?? 0));
      closeLine();
    }
    if (item.kind === 'tool_result') {
      const result = (item.data.result ?? {}) as { ok?: boolean; output?: string; errorCode?: string };
      const mark = result.ok === false ? `✗ ${result.errorCode ?? 'failed'}` : '✓';
      note(`  ${mark} ${short(String(result.output ?? ''), 100)}${seconds(item)}`);
    }
  };

  return {
    event({ type, runId: id, itemId, payload }) {
      if (id !== runId) return;
      const item = payload.item as ShownItem | undefined;
      if (type === 'item.delta' && itemId !== null) answer(itemId, String(payload.delta));
      else if (type === 'item.started' && item?.kind === 'tool_call') {
        note(`→ ${short(String(item.data.toolName), 60)} ${short(JSON.stringify(item.data.arguments ?? {}), 120)}`);
      } else if (type === 'item.completed' && item !== undefined) completed(item);
      else if (type === 'run.settled') {
        closeLine();
        const reasonCode = typeof payload.reasonCode === 'string' ? payload.reasonCode : null;
        end = { status: String(payload.status), reasonCode };
      }
    },
    settled: () => end,
  };
}
