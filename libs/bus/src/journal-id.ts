import { randomUUID } from 'node:crypto';
import { JOURNAL, journalMetadata } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError } from './failures.ts';

/**
 * Gives the journal a new id, after a restore or an accepted loss: what was built from it before counts no longer, and
 * clients load again. Runs as the user `provision`.
 */
export async function renewJournalId(bus: Bus): Promise<string> {
  const journalId = randomUUID();
  try {
    const { config } = await bus.jsm.streams.info(JOURNAL);
    const metadata = { ...config.metadata, [journalMetadata.journalId]: journalId };
    await bus.jsm.streams.update(JOURNAL, { ...config, metadata });
  } catch (error) {
    throw busError(error);
  }
  return journalId;
}
