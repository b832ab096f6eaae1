import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '@rookery/journal';
import { isRefusal, type Refusal } from '@rookery/kernel';
import { AppError, COMMIT_VERSION, type Commit, commitTime, type ErrorCode } from '@rookery/protocol';
import type { ReadModel } from './read-model.ts';
import type { Reader } from './reader.ts';

/** What a decision adds to make a commit: the head of the subject gives the rest. */
export type CommitParts = Omit<Commit, 'v' | 'at'>;

export type Attempt<R> =
  /** It is so already. */
  | { kind: 'done'; result: R }
  /** `stored` is given the commit as it stands in the journal, which a retry may meet as an earlier attempt made it. */
  | { kind: 'append'; commit: CommitParts; stored(streamSeq: number, commit: Commit, duplicate: boolean): R }
  | Refusal;

export interface Decide<DB> {
  journal: Journal;
  model: ReadModel<DB>;
  subject: string;
  /** How long a conflict waits for the read model, milliseconds. */
  conflictWaitMs: number;
  /** Attempts before it is said that another writer came first. Default 5. */
  attempts?: number;
  /** Refusals that a view which lags may give too often; they count only once it is level. Default: all. */
  mayBeStale?: readonly ErrorCode[];
  /** Puts what is too long for a commit elsewhere, before it is appended. */
  externalize?(commit: Commit): Promise<Commit>;
  now?(): Date;
}

const ATTEMPTS = 5;
/** The longest first pause after a conflict; it doubles. Without one, whoever came first would come first again. */
const PAUSE_MS = 5;

/** Why a view has stopped following the journal for good, null where it follows: then nothing may be appended. */
export function applyingError<DB>(model: ReadModel<DB>): AppError | null {
  const state = model.state();
  return 'error' in state && state.state !== 'stalled' ? state.error : null;
}

/**
 * The pattern of every command: decide on the view of a subject, append at the head of that view; after another writer's
 * commit wait until the view has it, and decide again. Where an earlier attempt of the same command was stored, the view
 * answers: the command may have come with other parameters then. `now` of an attempt is the commit's ISO time.
 * JOURNAL_CONFLICT after the last attempt, THREAD_DAMAGED (details.seq), the refusal's code, SERVICE_UNAVAILABLE where the
 * view does not get there, and what append throws.
 */
export async function appendDecided<DB, R>(
  on: Decide<DB>,
  attempt: (db: Reader<DB>, now: string) => Attempt<R>,
): Promise<R> {
  const { journal, model, subject, conflictWaitMs, attempts = ATTEMPTS } = on;
  let isLevel = false;
  let earlier: { id: string; streamSeq: number; commit: Commit } | null = null;
  for (let tried = 0; tried < attempts; ) {
    const stopped = applyingError(model);
    if (stopped !== null) throw stopped;
    const { head, now, next } = model.read((db) => {
      const damage = db.damageOf(subject);
      if (damage !== null) throw new AppError('THREAD_DAMAGED', { details: { seq: damage.streamSeq } });
      const found = db.head(subject);
      const at = commitTime(on.now?.() ?? new Date(), found.at);
      return { head: found.streamSeq, now: at, next: attempt(db, at) };
    });
    if (isRefusal(next)) {
      const final = isLevel || (on.mayBeStale !== undefined && !on.mayBeStale.includes(next.refused));
      if (final) throw new AppError(next.refused, { details: next.details ?? {} });
      await model.waitFor((await journal.info()).lastSeq, conflictWaitMs);
      isLevel = true;
      continue;
    }
    if (next.kind === 'done') return next.result;
    // The view has it and would do it again: a command that knows no parameters of its own. The first answer stands.
    if (next.commit.id === earlier?.id) return next.stored(earlier.streamSeq, earlier.commit, true);
    const whole: Commit = { v: COMMIT_VERSION, ...next.commit, at: now };
    const commit = on.externalize === undefined ? whole : await on.externalize(whole);
    const appended = await journal.append({ subject, expected: head, commit });
    if (appended.outcome === 'committed') {
      const { streamSeq, duplicate, other } = appended;
      if (other === undefined) return next.stored(streamSeq, whole, duplicate);
      earlier = { id: other.id, streamSeq, commit: other };
      // It is stored, so there is nothing to lose by patience: only the view can tell what the answer is.
      await model.waitFor(streamSeq, conflictWaitMs * (attempts - tried));
      tried += 1;
      continue;
    }
    await model.waitFor(appended.lastSeq, conflictWaitMs).catch(() => undefined);
    await sleep(Math.random() * PAUSE_MS * 2 ** tried);
    tried += 1;
  }
  throw new AppError('JOURNAL_CONFLICT');
}
