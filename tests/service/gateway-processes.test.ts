import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessRecord } from '@rookery/protocol';
import type { RunningService } from '@rookery/service';
import { eventually, type RpcClient } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayHouse, MODEL, newThread, PROVIDER, startGatewayHouse, useModel } from './gateway-house.ts';

let house: GatewayHouse;
let client: RpcClient;
let runner: RunningService;

beforeAll(async () => {
  house = await startGatewayHouse();
  runner = await house.start('tool');
  await house.start('agent');
  client = await house.client();
  await useModel(house, client);
});
afterAll(() => house.stop());

/** Runs a command by a turn, and gives the first fact that fits. */
async function processOf(command: string, fits: (fact: ProcessRecord) => boolean): Promise<ProcessRecord> {
  const thread = await newThread(client);
  const tools = [{ name: 'process_start', arguments: { command } }];
  const content = `#script ${JSON.stringify({ tools, text: 'started' })}`;
  await client.request('turn.start', { ...thread, content, providerId: PROVIDER, modelId: MODEL });
  return await eventually('the fact', () =>
    client.events
      .filter((event) => event.type === 'process.recorded' && event.threadId === thread.threadId)
      .map((event) => event.payload.process as ProcessRecord)
      .find(fits),
  );
}

test('a process that has ended can be read when its runner is away, and when the runner has forgotten it', async () => {
  const { threadId, processId } = await processOf('echo kept', ({ state }) => state === 'exited');
  const asked = { threadId, processId };
  const live = await processOf('sleep 30', ({ state }) => state === 'running');
  const first = await client.request('process.read', asked);
  expect(first).toMatchObject({ state: 'exited', exitCode: 0, output: 'kept\n', hasMore: false, nextCursor: 5 });

  await runner.stop();
  expect(await client.request('process.read', asked)).toEqual(first);
  expect(await client.request('process.stop', asked)).toEqual(first);
  expect(await client.request('process.read', { ...asked, cursor: 5 })).toMatchObject({ output: '', cursor: 5 });
  await expect(client.request('process.read', { ...asked, cursor: 6 })).rejects.toMatchObject({
    code: 'INVALID_CURSOR',
  });
  const { processId: liveId, threadId: liveThread } = live;
  await expect(client.request('process.stop', { threadId: liveThread, processId: liveId })).rejects.toMatchObject({
    code: 'RUNNER_UNAVAILABLE',
  });
  process.kill(live.pid ?? 0, 'SIGKILL');

  await rm(join(house.home, 'processes', threadId), { recursive: true, force: true });
  runner = await house.start('tool');
  expect(await client.request('process.read', asked)).toEqual(first);
  await expect(client.request('process.read', { ...asked, processId: 'process_none' })).rejects.toMatchObject({
    code: 'PROCESS_NOT_FOUND',
  });
});
