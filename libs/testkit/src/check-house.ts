import { type CheckedHistory, checkHistory, type Violation } from './history/checker.ts';
import { readStream } from './history/read-stream.ts';
import type { TestNats } from './nats.ts';
import { readModelDigests } from './read-model-digests.ts';

export type HouseHistory = Omit<CheckedHistory, 'journal' | 'memory' | 'readModelDigests'> & {
  /** Compare the read models with ones made anew; takes a second or two. Default true. */
  readModels?: boolean;
};

/** Runs the checker over everything that a home's journal holds and its read models say. */
export async function checkHouse(
  house: { home: string; nats: Pick<TestNats, 'url' | 'seed'>; services: readonly string[] },
  history: HouseHistory,
): Promise<Violation[]> {
  const { readModels = true, ...told } = history;
  const journal = await readStream(house.nats, 'JOURNAL');
  const memory = await readStream(house.nats, 'MEMORY');
  const digests = readModels ? await readModelDigests(house.home, house.nats, house.services) : [];
  return checkHistory({ ...told, journal, memory, readModelDigests: digests });
}
