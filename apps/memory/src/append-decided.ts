import type { Journal } from '@rookery/journal';
import { isRefusal, type Refusal } from '@rookery/kernel';
import { AppError, COMMIT_VERSION, type Commit, commitTime } from '@rookery/protocol';
import type { Db, Model } from './model.ts';

/** Attempts of one command before it is said that another writer came first. */
const ATTEMPTS = 5;

/** What a decision adds to make a commit: the head of the subject gives the rest. */
type CommitParts = Pick<Commit, 'id' | 'cause' | 'by' | 'agentId' | 'events'>;

export type Attempt<R> =
  | { kind: 'done'; result: R }
  | { kind: 'append'; commit: CommitParts; stored(streamSeq: number, duplicate: boolean): R }
  | Refusal;

export interface Subject {
  journal: Journal;
  model: Model;
  subject: string;
  /** How long a conflict waits for the read model, milliseconds. */
  conflictWaitMs: number;
  now(): Date;
}

/**
 * Decides on the read model's view of a subject and appends at the head of that view; after another writer's commit it
 * waits until the view has it and decides again. A refusal counts only where the view is level with the stream.
 * JOURNAL_CONFLICT after five times, THREAD_DAMAGED (details.seq), the refusal's code, and what append throws.
 */
export async function appendDecided<R>(on: Subject, attempt: (db: Db) => Attempt<R>): Promise<R> {
  const { journal, model, subject, conflictWaitMs } = on;
  let isLevel = false;
  for (let left = ATTEMPTS; left > 0; ) {
    const state = model.state();
    // Nothing is appended behind a journal that is not the one the view was made from.
    if ('error' in state && state.state !== 'stalled') throw state.error;
    const { head, next } = model.read((db) => {
      const damage = db.damageOf(subject);
      if (damage !== null) throw new AppError('THREAD_DAMAGED', { details: { seq: damage.streamSeq } });
      return { head: db.head(subject), next: attempt(db) };
    });
    if (isRefusal(next)) {
      if (isLevel) throw new AppError(next.refused, { details: next.details ?? {} });
      const { lastSeq } = await journal.info();
      await model.waitFor(lastSeq, conflictWaitMs);
      isLevel = true;
      continue;
    }
    if (next.kind === 'done') return next.result;
    const commit: Commit = { v: COMMIT_VERSION, ...next.commit, at: commitTime(on.now(), head.at) };
    const appended = await journal.append({ subject, expected: head.streamSeq, commit });
    if (appended.outcome === 'committed') return next.stored(appended.streamSeq, appended.duplicate);
    await model.waitFor(appended.lastSeq, conflictWaitMs).catch(() => undefined);
    left -= 1;
  }
  throw new AppError('JOURNAL_CONFLICT');
}
