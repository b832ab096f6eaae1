import { renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify, isAlive, type ProcessIdentity } from '@rookery/read-model';
import { commandOf, endProcess } from '@rookery/service';

/** The processes that a supervisor started, so that the next one can end what a kill -9 left behind. */
export interface RunRecord {
  supervisor: ProcessIdentity;
  processes: (ProcessIdentity & { name: string })[];
}

const recordPath = (home: string): string => join(home, 'run', 'supervisor.json');

/** Records who runs now; written whole or not at all, and before anything else can happen. */
export function recordProcesses(home: string, running: readonly { name: string; pid: number }[]): void {
  const supervisor = identify(process.pid);
  if (supervisor === null) return;
  const processes = running.flatMap(({ name, pid }) => {
    const identity = identify(pid);
    return identity === null ? [] : [{ name, ...identity }];
  });
  const path = recordPath(home);
  writeFileSync(`${path}.part`, `${JSON.stringify({ supervisor, processes })}\n`, { mode: 0o600 });
  renameSync(`${path}.part`, path);
}

async function readRecord(home: string): Promise<RunRecord['processes']> {
  try {
    const record = JSON.parse(await readFile(recordPath(home), 'utf8')) as Partial<RunRecord>;
    return record.processes ?? [];
  } catch {
    return [];
  }
}

/** A server of this home that was killed from above before it could be recorded, by its own pid file. */
async function unrecordedServer(home: string): Promise<ProcessIdentity | null> {
  const pid = Number(await readFile(join(home, 'nats', 'nats.pid'), 'utf8').catch(() => ''));
  const ours = pid > 0 && commandOf(pid).includes(join(home, 'nats', 'nats.conf'));
  return ours ? identify(pid) : null;
}

/** Ends processes of an earlier supervisor of this home that still run; gives their names. */
export async function endLeftovers(home: string, graceMs: number): Promise<string[]> {
  const alive = (await readRecord(home)).filter((each) => isAlive(each));
  // Services first: they may still be settling, and need the journal for it.
  await Promise.all(alive.filter(({ name }) => name !== 'nats-server').map((each) => endProcess(each, graceMs)));
  await Promise.all(alive.filter(({ name }) => name === 'nats-server').map((each) => endProcess(each, graceMs)));
  const server = await unrecordedServer(home);
  if (server === null) return alive.map(({ name }) => name);
  await endProcess(server, graceMs);
  return [...alive.map(({ name }) => name), 'nats-server'];
}
