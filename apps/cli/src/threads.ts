import type { Thread } from '@rookery/protocol';
import type { ParsedArguments } from './arguments.ts';
import { rpcCall } from './rpc-call.ts';
import { plain } from './run-printer.ts';

interface Page {
  threads: Thread[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** `rookery threads`: id, time, title and folder of each, one a line. */
export async function threads({ switches }: ParsedArguments): Promise<number> {
  let cursor: string | null = null;
  do {
    const page: Page = await rpcCall('thread.list', { cursor, limit: 100, archived: switches.has('archived') });
    for (const thread of page.threads)
      process.stdout.write(`${switches.has('json') ? JSON.stringify(thread) : line(thread)}\n`);
    cursor = page.hasMore ? page.nextCursor : null;
  } while (cursor !== null);
  return 0;
}

function line({ id, updatedAt, title, workspace }: Thread): string {
  const time = updatedAt.slice(0, 16).replace('T', ' ');
  return plain(
    [id, time, title ?? '(no title)', workspace?.rootUri ?? ''].join('  ').replace(/[\n\t]/g, ' '),
  ).trimEnd();
}
