import { backUp } from '@rookery/backup';
import { AppError, SERVER } from '@rookery/protocol';
import type { ParsedArguments } from './arguments.ts';
import { homeFolder } from './home.ts';
import { connectNats, natsUrl } from './nats-connection.ts';

const mib = (bytes: number): string => `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;

/** `rookery backup DIR`: copies everything that NATS holds of the home into a new folder, while it runs. */
export async function backup({ positional, switches }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  const url = await natsUrl(home);
  if (url === null) {
    throw new AppError('JOURNAL_UNAVAILABLE', {
      message: `No nats-server runs for ${home}. Start Rookery, then make the backup: it is made while Rookery runs.`,
    });
  }
  const bus = await connectNats(home, 'provision', url);
  try {
    const isJson = switches.has('json');
    const report = await backUp({
      bus,
      folder: String(positional[0]),
      version: SERVER.version,
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
    if (isJson) process.stdout.write(`${JSON.stringify({ ok: true, ...report })}\n`);
    else {
      for (const [stream, { messages, lastSeq }] of Object.entries(report.streams)) {
        process.stdout.write(`${stream}: ${messages} messages up to ${lastSeq}\n`);
      }
      process.stdout.write(
        `${mib(report.bytes)} in ${report.folder}. Keep ${home}/master.key somewhere else as well: it opens the sealed secrets.\n`,
      );
    }
    return 0;
  } finally {
    await bus.close();
  }
}
