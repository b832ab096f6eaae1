import { restore } from '@rookery/backup';
import { AppError } from '@rookery/protocol';
import type { ParsedArguments } from './arguments.ts';
import { homeFolder } from './home.ts';
import { whileStopped } from './stopped-home.ts';

/** `rookery restore DIR`: a backup in the place of the store of a stopped home, which is moved aside. */
export async function restoreBackup({ positional, switches }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  if (process.env.ROOKERY_NATS_URL) {
    throw new AppError('CONFIG_INVALID', {
      message:
        'ROOKERY_NATS_URL names a server of your own. Restore into a home with a server of its own, or restore its streams with your tools.',
    });
  }
  const report = await whileStopped(home, (binary) =>
    restore({
      home,
      folder: String(positional[0]),
      binary,
      onProgress: (text) => process.stderr.write(`${text}\n`),
    }),
  );
  if (switches.has('json')) process.stdout.write(`${JSON.stringify({ ok: true, ...report })}\n`);
  else {
    for (const [stream, { messages, lastSeq }] of Object.entries(report.streams)) {
      process.stdout.write(`${stream}: ${messages} messages up to ${lastSeq}\n`);
    }
    process.stdout.write(`Restored what was there at ${report.createdAt}.\n`);
    if (report.movedAside !== null) {
      process.stdout.write(`What was there before is in ${report.movedAside}; remove it once all is well.\n`);
    }
    process.stdout.write('Start Rookery (npm start): the views are built anew, and every page loads again.\n');
  }
  return 0;
}
