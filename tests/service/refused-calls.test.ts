import { join } from 'node:path';
import type { ToolResult } from '@rookery/protocol';
import { openDatabase } from '@rookery/read-model';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentHouse, eventsOf, startAgentHouse } from './agent-house.ts';

let house: AgentHouse;

beforeAll(async () => {
  house = await startAgentHouse();
  await house.startRunner();
  await house.startAgent();
});
afterAll(() => house.stop());

async function resultOf(tool: { name: string; arguments: object }, request: string): Promise<ToolResult> {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, `#script ${JSON.stringify({ tools: [tool], text: 'so' })}`, request);
  const events = eventsOf(await house.settled(thread, runId));
  expect(events.at(-1)?.payload).toMatchObject({ status: 'completed' });
  const items = events.map((event) => event.payload.item as { kind?: string; content?: string } | undefined);
  return JSON.parse(items.find((item) => item?.kind === 'tool_result')?.content ?? '{}') as ToolResult;
}

test('a call that the runner cannot put on record ends with the code of its refusal', async () => {
  const db = openDatabase(join(house.home, 'tool', '0', 'receipts.db'), { synchronous: 'FULL' });
  db.exec("CREATE TRIGGER full BEFORE INSERT ON receipts BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  try {
    const result = await resultOf({ name: 'write', arguments: { filePath: 'a.txt', content: 'x' } }, 'full');
    expect(result).toMatchObject({ ok: false, errorCode: 'internal' });
  } finally {
    db.exec('DROP TRIGGER full');
    db.close();
  }
  const after = await resultOf({ name: 'write', arguments: { filePath: 'a.txt', content: 'x' } }, 'fits');
  expect(after).toMatchObject({ ok: true });
});
