import { rmSync } from 'node:fs';
import { PathLocks } from '@rookery/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isToolName, type ToolName, toolDefinitions } from './definitions.ts';
import { runTool } from './run-tool.ts';
import { makeProcessTable } from './testing/process-bench.ts';
import { makeContext, makeFolder } from './testing/tool-context.ts';
import type { ToolContext } from './tool-call.ts';

let root: string;
let processes: ReturnType<typeof makeProcessTable>['table'];
beforeEach(() => {
  root = makeFolder();
  processes = makeProcessTable(root).table;
});
afterEach(() => {
  processes.close();
  rmSync(root, { recursive: true, force: true });
});

const run = (name: ToolName, args: unknown, other: Partial<ToolContext> = {}) =>
  runTool(name, args, makeContext(root, other), {
    locks: new PathLocks(),
    processes,
    report: (error) => {
      throw error;
    },
  });

describe('every tool', () => {
  it('is described with a closed schema', () => {
    expect(toolDefinitions.map((tool) => tool.name)).toEqual([
      ...['read', 'write', 'edit', 'list', 'glob', 'grep'],
      ...['process_start', 'process_read', 'process_wait', 'process_stop'],
    ]);
    for (const tool of toolDefinitions) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.description.length).toBeGreaterThan(20);
    }
  });

  it('says which of them only read', () => {
    const readers = toolDefinitions.filter((tool) => !tool.mutating).map((tool) => tool.name);
    expect(readers).toEqual(['read', 'list', 'glob', 'grep', 'process_read', 'process_wait']);
  });

  it('refuses unknown keys and a workspace that is not on this machine', async () => {
    for (const { name } of toolDefinitions) {
      if (!isToolName(name)) throw new Error(name);
      const refused = await run(name, { nonsense: true });
      expect(refused).toMatchObject({ ok: false, cancelled: false });
      expect(refused.details).toEqual({ durationMs: 0, truncated: false, errorCode: 'invalid_arguments' });
      expect((await run(name, {}, { workspaceRoot: '' })).details.errorCode).toBe('invalid_workspace');
    }
  });
});
