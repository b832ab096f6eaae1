import type { WireEvent } from '@rookery/protocol';
import { integerOption, type ParsedArguments } from './arguments.ts';
import { rpcCall } from './rpc-call.ts';

interface Page {
  events: WireEvent[];
  nextAfterSeq: number;
  hasMore: boolean;
}

/** `rookery journal replay`: the conversation events up to now, in order. */
export async function journalReplay({ values }: ParsedArguments): Promise<number> {
  let afterSeq = integerOption(values, 'after', 0);
  for (;;) {
    const page = await rpcCall<Page>('event.replay', { afterSeq, limit: 1000 });
    const lines = page.events.map((event) => `${JSON.stringify(event)}\n`).join('');
    // Waits for a slow reader, so that a long journal does not pile up in memory.
    if (lines !== '' && !process.stdout.write(lines))
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    if (!page.hasMore) return 0;
    afterSeq = page.nextAfterSeq;
  }
}
