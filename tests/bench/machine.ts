import { readFile } from 'node:fs/promises';
import { cpus, freemem, loadavg, platform, release, totalmem } from 'node:os';
import type { BenchHouse } from './house.ts';

const MIB = 1024 * 1024;

/** The line that says where the figures come from. */
export async function printMachine(house: BenchHouse): Promise<void> {
  const { version, jetstream } = await house.varz();
  const [cpu] = cpus();
  const machine = {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryMib: Math.round(totalmem() / MIB),
    freeMib: Math.round(freemem() / MIB),
    load: loadavg()[0],
    system: `${platform()} ${release()}`,
    node: process.versions.node,
  };
  const server = { version, sync_always: jetstream?.config?.sync_always === true };
  process.stdout.write(`${JSON.stringify({ machine, server })}\n`);
}

/** Memory in MiB that processes hold now. */
export async function residentMib(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    sum += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  }
  return sum;
}
