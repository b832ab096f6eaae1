import type { Bus } from '@rookery/bus';
import { decodeCommit, getAt, type Journal, type StreamFacts } from '@rookery/journal';
import type { Applier } from './applier.ts';
import { checkIdentity } from './identity.ts';

const RETRY_MS = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long what is missing from a reading may still come, milliseconds, and whether anybody waits for it. */
export interface Patience {
  timeoutMs: number;
  isStopped(): boolean;
}

/**
 * Reads of a stream may be answered by a copy that lags: what is missing counts as gone only after a while. Gives the
 * last reading.
 */
export async function readWhole<T>(
  read: () => Promise<T>,
  isComplete: (found: T) => boolean,
  { timeoutMs, isStopped }: Patience,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await read();
    if (isComplete(found) || isStopped() || performance.now() > deadline) return found;
    await pause(RETRY_MS);
  }
}

export interface Seen {
  bus: Bus;
  journal: Journal;
  applier: Applier;
  facts: StreamFacts;
}

/** Compares a journal with the checkpoint of a file, or makes it the file's journal; JOURNAL_REGRESSED, and read errors. */
export async function recognise({ bus, journal, applier, facts }: Seen, patience: Patience): Promise<void> {
  const journalId = async () => (await journal.identity()).journalId;
  const { checkpoint } = applier;
  if (checkpoint.appliedSeq === 0) {
    // Nothing was built yet, so nothing can be lost: this is the journal from now on.
    applier.adopt(facts.created, await journalId());
    return;
  }
  const isErased = (seq: number) => applier.isErased(seq, seq);
  const commitIdAt = async (seq: number) => {
    const message = await readWhole(
      () => getAt(bus, journal.stream, seq),
      (found) => found !== null || seq > facts.lastSeq || isErased(seq),
      patience,
    );
    const decoded = message === null ? null : decodeCommit(message);
    return decoded?.ok ? decoded.stored.commit.id : null;
  };
  const error = await checkIdentity(checkpoint, { ...facts, journalId, commitIdAt, isErased });
  if (error !== null) throw error;
}
