import type { SettledStatus } from '@rookery/protocol';
import i18next from 'i18next';
import { journal, patchUi, ui } from '../state/stores.ts';
import type { WireEvent } from '../wire/types.ts';

const SPOKEN_CHARS = 400;

/** Tells a screen reader the outcome of the open thread's run, once, with the beginning of the answer. */
export function announceSettled(events: readonly WireEvent[]): void {
  const settled = events.findLast((event) => event.type === 'run.settled' && event.threadId === ui.get().selected);
  if (!settled) return;
  const turn = journal.get().conversations[settled.threadId]?.turns.find((one) => one.id === settled.turnId);
  const run = turn?.runs.find((one) => one.id === settled.runId);
  const answer = run?.items.findLast((item) => item.role === 'assistant' && item.kind === 'message')?.content ?? '';
  const outcome = i18next.t(`run.${settled.payload.status as SettledStatus}`);
  patchUi({ announcement: `${outcome}. ${answer.slice(0, SPOKEN_CHARS)}` });
}
