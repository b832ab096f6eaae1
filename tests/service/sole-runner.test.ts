import { start as startToolRunner } from '@rookery/tool-runner';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentHouse, serviceConfig, startAgentHouse } from './agent-house.ts';

let house: AgentHouse;

beforeAll(async () => {
  house = await startAgentHouse();
});
afterAll(() => house.stop());

test('two runners of one name: the second refuses to start, and may once the first is gone', async () => {
  const first = await house.startRunner();
  const config = () => serviceConfig(house.nats, house.home, 'tool', 1);
  await expect(startToolRunner(config())).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    details: { name: 'ROOKERY_RUNNER' },
  });
  const other = await startToolRunner(serviceConfig(house.nats, house.home, 'tool', 2, { ROOKERY_RUNNER: 'other' }));
  await other.stop();
  await first.stop();
  await (await startToolRunner(config())).stop();
});
