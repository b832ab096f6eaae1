import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { acceptLoss, withOfflineServer } from '@rookery/backup';
import type { Bus } from '@rookery/bus';
import { AppError, JOURNAL, MEMORY } from '@rookery/protocol';
import { integerOption, type ParsedArguments } from './arguments.ts';
import { homeFolder } from './home.ts';
import { connectNats } from './nats-connection.ts';
import { whileStopped } from './stopped-home.ts';

interface Ends {
  journal: number;
  memory: number;
}

async function endsOf(bus: Bus): Promise<Ends> {
  const lastSeqOf = async (stream: string): Promise<number> => {
    const found = await bus.jsm.streams.info(stream).catch(() => null);
    if (found === null) {
      throw new AppError('JOURNAL_UNAVAILABLE', {
        message: `The server has no stream ${stream}; \`npx rookery restore DIR\` brings back a copy of it.`,
      });
    }
    return found.state.last_seq;
  };
  return { journal: await lastSeqOf(JOURNAL), memory: await lastSeqOf(MEMORY) };
}

/** Runs work on the home's own store while it is stopped, or on the server that ROOKERY_NATS_URL names. */
async function onServer<T>(home: string, work: (bus: Bus) => Promise<T>): Promise<T> {
  const url = process.env.ROOKERY_NATS_URL;
  if (!url) {
    const store = join(home, 'nats', 'store');
    // A server that is started on a folder that is not there would make one.
    if (!existsSync(store)) {
      throw new AppError('JOURNAL_UNAVAILABLE', {
        message: `There is no journal at ${store}. Set ROOKERY_HOME to the home that has one, or bring a copy back with \`rookery restore DIR\`.`,
      });
    }
    return await whileStopped(home, (binary) => withOfflineServer({ home, binary, store }, work));
  }
  const bus = await connectNats(home, 'provision', url);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

/** `rookery journal accept-loss [--at SEQ]`: says where the journal ends, or makes that end the truth. */
export async function journalAcceptLoss({ values, switches }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  const isJson = switches.has('json');
  if (values.at === undefined) {
    const ends = await onServer(home, endsOf);
    if (isJson) process.stdout.write(`${JSON.stringify({ ok: true, accepted: false, ...ends })}\n`);
    else {
      process.stdout.write(
        `The journal ends at ${ends.journal}, memory at ${ends.memory}. What came behind is lost unless a backup has it:\n` +
          `  npx rookery restore DIR                             brings a backup back\n` +
          `  npx rookery journal accept-loss --at ${String(ends.journal).padEnd(15)} goes on without the rest\n`,
      );
    }
    return 0;
  }
  const at = integerOption(values, 'at', 0);
  const report = await onServer(home, (bus) => acceptLoss(bus, home, at));
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: true, accepted: true, ...report })}\n`);
  else {
    process.stdout.write(
      `The journal goes on behind ${at} with a new id. Start Rookery (npm start): the views are built anew, and every page loads again.\n`,
    );
  }
  return 0;
}
