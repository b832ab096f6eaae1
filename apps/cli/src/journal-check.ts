import type { Bus } from '@rookery/bus';
import { getBatch } from '@rookery/journal';
import { AppError, JOURNAL, MEMORY } from '@rookery/protocol';
import type { ParsedArguments } from './arguments.ts';
import { homeFolder } from './home.ts';
import { JournalAudit } from './journal-audit.ts';
import { connectNats, natsUrl } from './nats-connection.ts';

const PAGE = 1000;
const PAGE_BYTES = 8 * 1024 * 1024;
const DAMAGED = 2;
/** Problems that are printed of each stream; the count says how many there are. */
const SHOWN = 50;

async function audit(bus: Bus, stream: string): Promise<JournalAudit> {
  const found = new JournalAudit(stream);
  for (let fromSeq = 1; ; ) {
    const { messages, pending } = await getBatch(bus, stream, { fromSeq, max: PAGE, maxBytes: PAGE_BYTES });
    for (const message of messages) found.add(message);
    const last = messages.at(-1);
    if (last === undefined || pending === 0) return found;
    fromSeq = last.streamSeq + 1;
  }
}

/** `rookery journal check`: reads both streams whole. Gives 0, or 2 where an entry is damaged or breaks a rule. */
export async function journalCheck({ switches }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  const url = await natsUrl(home);
  if (url === null) {
    throw new AppError('JOURNAL_UNAVAILABLE', {
      message: `No nats-server runs for ${home}. Start Rookery, or set ROOKERY_NATS_URL.`,
    });
  }
  const bus = await connectNats(home, 'provision', url);
  try {
    const streams: Record<string, JournalAudit> = {};
    for (const stream of [JOURNAL, MEMORY]) streams[stream] = await audit(bus, stream);
    const damaged = Object.values(streams).some(({ problems }) => problems.length > 0);
    if (switches.has('json')) {
      const report = Object.entries(streams).map(([stream, { commits, foreign, problems }]) => ({
        stream,
        commits,
        foreign,
        problems,
      }));
      process.stdout.write(`${JSON.stringify({ ok: !damaged, streams: report })}\n`);
    } else {
      for (const [stream, found] of Object.entries(streams)) print(stream, found);
    }
    return damaged ? DAMAGED : 0;
  } finally {
    await bus.close();
  }
}

function print(stream: string, { commits, foreign, problems }: JournalAudit): void {
  const others = foreign === 0 ? '' : `, ${foreign} messages that are none of Rookery's`;
  process.stdout.write(`${stream}: ${commits} commits${others}, ${problems.length} damaged\n`);
  for (const { streamSeq, subject, what } of problems.slice(0, SHOWN)) {
    process.stdout.write(`  ${streamSeq} ${subject}: ${what}\n`);
  }
  if (problems.length > SHOWN) process.stdout.write(`  and ${problems.length - SHOWN} more\n`);
}
