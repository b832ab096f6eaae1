import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  connectAs,
  connectAsStranger,
  createThread,
  eventually,
  faultRow,
  refusals,
  sleep,
  startTurn,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';

/** A tool call that leaves a file, as somebody would forge it. */
function forgedCall(path: string): string {
  const params = {
    itemId: 'item_forged',
    callId: 'call_forged',
    toolName: 'write',
    arguments: { filePath: path, content: 'forged' },
    argsSha256: '0'.repeat(64),
    threadId: 'thread_forged',
    turnId: 'turn_forged',
    runId: 'run_forged',
    branchId: 'branch_forged',
    stepOrdinal: 1,
    intentSeq: 1,
    holder: 'nobody',
    workspaceRoot: '/tmp',
    clientRequestId: 'forged',
  };
  return JSON.stringify({ v: 1, method: 'invoke', params, commandId: 'item_forged', agentId: 'main', world: 'home' });
}

it('refuses strangers, services on the subjects of others, sniffed replies and pushed commands, and logs it', async () => {
  await faultRow({ services: ['gateway', 'agent', 'tool-runner'] }, async ({ rookery, follower, model }) => {
    const { nats } = rookery;
    await expect(connectAsStranger(nats.url)).rejects.toThrow(/authorization violation/i);
    const target = join(rookery.home, 'forged.txt');
    const written = () => readFile(target, 'utf8').catch(() => null);

    const channels = await connectAs(nats, 'channels');
    const channelsRefused = refusals(channels);
    channels.publish('cmd.tool.main.invoke', forgedCall(target));
    channels.publish('journal.home.thread.t.turns', 'forged');
    const sniffed: string[] = [];
    channels.subscribe('_INBOX_gateway.>', {
      callback: (error, message) => void (error ?? sniffed.push(message.subject)),
    });
    channels.subscribe('cmd.agent.>', { callback: (error, message) => void (error ?? sniffed.push(message.subject)) });
    await channels.flush();
    await eventually('four refusals', () => channelsRefused.size === 4);
    expect([...channelsRefused].sort()).toEqual([
      'publish cmd.tool.main.invoke',
      'publish journal.home.thread.t.turns',
      'subscription _INBOX_gateway.>',
      'subscription cmd.agent.>',
    ]);

    // A reader of the journal may make a consumer; what it pushes at a command subject is no command.
    const memory = await connectAs(nats, 'memory');
    const config = {
      name: 'forger',
      deliver_subject: 'cmd.tool.main.invoke',
      ack_policy: 'none',
      deliver_policy: 'all',
    };
    await memory.request('$JS.API.CONSUMER.CREATE.JOURNAL.forger', JSON.stringify({ stream_name: 'JOURNAL', config }));

    const client = await rookery.client();
    const thread = await createThread(client);
    const { runId } = await startTurn(
      client,
      thread,
      `list #script ${JSON.stringify({ tools: [{ name: 'list', arguments: {} }], text: 'ok' })}`,
    );
    expect(await waitSettled(follower.events, runId)).toEqual({ status: 'completed', reasonCode: null });
    expect(model.requests).toHaveLength(2);
    await sleep(200);
    expect(sniffed).toEqual([]);
    expect(await written()).toBeNull();
    const log = await readFile(join(rookery.home, 'nats/nats.log'), 'utf8');
    expect(log).toMatch(/Publish Violation.*cmd\.tool\.main\.invoke/);
    expect(log).toMatch(/Subscription Violation.*_INBOX_gateway/);
    await Promise.all([channels.close(), memory.close(), client.close()]);
    return undefined;
  });
});
