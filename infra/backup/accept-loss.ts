import { type Bus, provision, renewJournalId } from '@rookery/bus';
import { edgeKeysOf } from '@rookery/nats';
import { AppError, agentRuns, JOURNAL, MEMORY } from '@rookery/protocol';
import { removeReadModels } from './read-models.ts';

export interface LossReport {
  /** New: clients load everything again and read models are built anew. */
  journalId: string;
  /** Last sequence of each stream, which is the truth from now on. */
  lastSeq: Record<string, number>;
}

/**
 * Makes a journal that ends earlier than it did before the truth from now on. `at` is its last sequence as the person saw
 * it, so that nobody accepts another loss than the one looked at: INVALID_PARAMS names the real one. Runs as `provision`,
 * with the services stopped.
 */
export async function acceptLoss(bus: Bus, home: string, at: number): Promise<LossReport> {
  const lastSeqOf = async (stream: string): Promise<number> => (await bus.jsm.streams.info(stream)).state.last_seq;
  const found = await lastSeqOf(JOURNAL).catch((error: unknown) => {
    throw new AppError('JOURNAL_UNAVAILABLE', {
      message: `The server has no stream ${JOURNAL}; \`rookery restore DIR\` brings back a copy of it.`,
      cause: error,
    });
  });
  if (found !== at) {
    throw new AppError('INVALID_PARAMS', {
      message: `The journal ends at ${found}, not at ${at}. Look at what is lost, then name ${found}.`,
      details: { path: 'at', found },
    });
  }
  const journalId = await renewJournalId(bus);
  // Its position may lie behind the end: it would pass over what comes next.
  await bus.jsm.consumers.delete(agentRuns.stream, agentRuns.durable).catch(() => undefined);
  await provision(bus, { edgeKeys: await edgeKeysOf(home) });
  await removeReadModels(home);
  return { journalId, lastSeq: { [JOURNAL]: found, [MEMORY]: await lastSeqOf(MEMORY) } };
}
