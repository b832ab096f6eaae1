import { renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcess, identify, isAlive, type ProcessIdentity } from './process-identity.ts';

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

/** Ends processes of an earlier supervisor of this home that still run; gives their names. */
export async function endLeftovers(home: string, graceMs: number): Promise<string[]> {
  const text = await readFile(recordPath(home), 'utf8').catch(() => '');
  let record: Partial<RunRecord>;
  try {
    record = JSON.parse(text) as Partial<RunRecord>;
  } catch {
    return [];
  }
  const alive = (record.processes ?? []).filter((each) => isAlive(each));
  // Services first: they may still be settling, and need the journal for it.
  await Promise.all(alive.filter(({ name }) => name !== 'nats-server').map((each) => endProcess(each, graceMs)));
  await Promise.all(alive.filter(({ name }) => name === 'nats-server').map((each) => endProcess(each, graceMs)));
  return alive.map(({ name }) => name);
}
