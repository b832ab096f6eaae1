import type { ParsedArguments } from './arguments.ts';
import type { Finding } from './doctor/finding.ts';
import { checkGateway, checkModels } from './doctor/gateway.ts';
import { checkDisk, checkHome, checkNode, checkServerBinary } from './doctor/machine.ts';
import { checkNats, checkServices } from './doctor/nats.ts';
import { homeFolder } from './home.ts';

const marks = { ok: '✓', note: '·', wrong: '✗' } as const;

/** `rookery doctor`: looks, changes nothing. Gives 1 where something is wrong. */
export async function doctor({ switches }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  const findings: Finding[] = [];
  for (const check of [
    checkNode,
    checkHome,
    checkDisk,
    checkServerBinary,
    checkNats,
    checkServices,
    checkGateway,
    checkModels,
  ]) {
    findings.push(...(await check(home)));
  }
  const ok = findings.every(({ state }) => state !== 'wrong');
  if (switches.has('json')) {
    process.stdout.write(`${JSON.stringify({ ok, home, findings })}\n`);
  } else {
    for (const { name, state, found, todo } of findings) {
      process.stdout.write(`${marks[state]} ${name}: ${found}\n`);
      if (todo !== undefined) process.stdout.write(`    ${todo}\n`);
    }
    process.stdout.write(ok ? '\nNothing is wrong.\n' : '\nSomething is wrong: see what to do above.\n');
  }
  return ok ? 0 : 1;
}
