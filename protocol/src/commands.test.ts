import { describe, expect, it } from 'vitest';
import {
  commandRequestSchema,
  hookReceiveSchema,
  toolInspectSchema,
  toolInvokeSchema,
  workspacePrepareSchema,
  writerName,
} from './commands.ts';

const request = { v: 1, method: 'turn.start', params: {}, commandId: 'c', agentId: 'main', world: 'home' };
const invoke = {
  itemId: 'i',
  callId: 'c',
  toolName: 'read',
  arguments: {},
  argsSha256: 'a'.repeat(64),
  threadId: 't',
  turnId: 'u',
  runId: 'r',
  branchId: 'b',
  stepOrdinal: 1,
  intentSeq: 1,
  holder: 'h',
  workspaceRoot: null,
  clientRequestId: 'c',
};

describe('requests between services', () => {
  it('name their agent and world, and nothing that is not known', () => {
    expect(commandRequestSchema.safeParse(request).success).toBe(true);
    expect(commandRequestSchema.safeParse({ ...request, v: 2 }).success).toBe(false);
    expect(commandRequestSchema.safeParse({ ...request, more: 1 }).success).toBe(false);
    for (const key of ['v', 'method', 'commandId', 'agentId', 'world']) {
      expect(commandRequestSchema.safeParse({ ...request, [key]: undefined }).success).toBe(false);
      expect(commandRequestSchema.safeParse({ ...request, [key]: '' }).success).toBe(false);
    }
  });

  it('to a tool are whole', () => {
    expect(toolInvokeSchema.safeParse(invoke).success).toBe(true);
    for (const key of Object.keys(invoke))
      expect(toolInvokeSchema.safeParse({ ...invoke, [key]: undefined }).success).toBe(false);
    for (const bad of [
      { stepOrdinal: 0 },
      { intentSeq: 0 },
      { argsSha256: 'a' },
      { arguments: [] },
      { workspaceRoot: 'x'.repeat(4097) },
    ]) {
      expect(toolInvokeSchema.safeParse({ ...invoke, ...bad }).success).toBe(false);
    }
  });

  it('about a tool wait at most five seconds', () => {
    const waits = [0, 5000, 5001, -1].map((waitMs) => toolInspectSchema.safeParse({ itemId: 'i', waitMs }).success);
    expect(waits).toEqual([true, true, false, false]);
    expect(toolInspectSchema.parse({ itemId: 'i' })).toEqual({ itemId: 'i', waitMs: 0 });
  });

  it('for a workspace name a folder or nothing', () => {
    expect(workspacePrepareSchema.safeParse({ threadId: 't', workspace: null }).success).toBe(true);
    expect(workspacePrepareSchema.safeParse({ threadId: 't', workspace: { rootUri: '/w' } }).success).toBe(true);
    expect(workspacePrepareSchema.safeParse({ threadId: 't', workspace: { rootUri: '' } }).success).toBe(false);
    expect(workspacePrepareSchema.safeParse({ threadId: 't' }).success).toBe(false);
  });

  it('from outside have a delivery id and content', () => {
    const hook = { name: 'ci', secret: null, deliveryId: 'd', body: { content: 'x' } };
    expect(hookReceiveSchema.safeParse(hook).success).toBe(true);
    expect(hookReceiveSchema.safeParse({ ...hook, deliveryId: 'x'.repeat(201) }).success).toBe(false);
    expect(hookReceiveSchema.safeParse({ ...hook, deliveryId: '' }).success).toBe(false);
    expect(hookReceiveSchema.safeParse({ ...hook, body: { content: '' } }).success).toBe(false);
    expect(hookReceiveSchema.safeParse({ ...hook, body: { content: 'x', more: 1 } }).success).toBe(false);
  });

  it('are written in the name of service and instance', () => {
    expect(writerName('agent', 'host-0-boot')).toBe('agent/host-0-boot');
  });
});
