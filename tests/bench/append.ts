import { randomUUID } from 'node:crypto';
import { type Bus, connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { type Commit, commitId, formatSubject } from '@rookery/protocol';
import { commitHeaders, type NatsConnection } from '@rookery/testkit';
import { median, print } from './figures.ts';
import type { BenchHouse } from './house.ts';

const ROUNDS = 7;
const COMMITS = 640;

type Write = (subject: string, expected: number, commit: Commit) => Promise<number>;

function commitOn(subject: string, command: string, n: number): Commit {
  const delta = {
    type: 'item.delta',
    itemId: 'item_bench',
    payload: { delta: 'a sentence that a model says '.repeat(8) },
  };
  return {
    v: 1,
    id: commitId(subject, command, n),
    cause: command,
    at: new Date().toISOString(),
    by: 'bench/host-0-boot',
    agentId: 'main',
    runId: 'run_bench',
    events: [delta],
  };
}

/** Commits per second with `inFlight` subjects, each of which waits for its last acknowledgement. */
async function rate(write: Write, inFlight: number): Promise<number> {
  const command = randomUUID();
  const each = Math.floor(COMMITS / inFlight);
  const chain = async (lane: number) => {
    const subject = formatSubject({ kind: 'run', world: 'home', threadId: 'bench', runId: `${command}-${lane}` });
    let expected = 0;
    for (let n = 0; n < each; n += 1) expected = await write(subject, expected, commitOn(subject, command, n));
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => chain(lane)));
  return (each * inFlight) / ((performance.now() - started) / 1000);
}

function journalWriter(bus: Bus): Write {
  const journal = openJournal(bus);
  return async (subject, expected, commit) => {
    const result = await journal.append({ subject, expected, commit });
    if (result.outcome !== 'committed') throw new Error('a conflict where nobody else writes');
    return result.streamSeq;
  };
}

function rawWriter(nc: NatsConnection): Write {
  const encoder = new TextEncoder();
  return async (subject, expected, commit) => {
    const headers = commitHeaders(commit.id, expected);
    const reply = await nc.request(subject, encoder.encode(JSON.stringify(commit)), { headers, timeout: 5000 });
    return reply.json<{ seq: number }>().seq;
  };
}

/** append_ratio: libs/journal against a bare publish of the same, in turns on the same server. */
export async function benchAppend(house: BenchHouse): Promise<void> {
  const bus = await connectBus({ url: house.nats.url, user: 'agent', seed: house.nats.seed('agent'), name: 'bench' });
  try {
    for (const inFlight of [1, 64]) {
      const [journal, raw] = [journalWriter(bus), rawWriter(bus.nc)];
      const rates = { journal: [] as number[], raw: [] as number[] };
      await rate(journal, inFlight);
      await rate(raw, inFlight);
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.raw.push(await rate(raw, inFlight));
        rates.journal.push(await rate(journal, inFlight));
      }
      print(`append_ratio_${inFlight}_in_flight`, median(rates.journal) / median(rates.raw), 'ratio', { atLeast: 0.8 });
      print(`append_commits_per_s_${inFlight}_in_flight`, median(rates.journal), 'commits/s', null);
    }
  } finally {
    await bus.close();
  }
}
