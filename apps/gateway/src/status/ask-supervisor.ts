import { randomUUID } from 'node:crypto';
import { type Bus, callCommand } from '@rookery/bus';
import { commandSubject, type HouseStatus } from '@rookery/protocol';
import type { Edge } from '../methods/command-sender.ts';

/** A supervisor answers at once, or is none. */
const timeoutMs = 1000;

/** What the supervisor has running; null where none answers. */
export async function askSupervisor(bus: Bus, { agentId, world }: Edge): Promise<HouseStatus | null> {
  const method = 'runtime.status';
  const request = { method, params: {}, commandId: randomUUID(), agentId, world };
  try {
    const subject = commandSubject('supervisor', method);
    return (await callCommand(bus, subject, request, { timeoutMs, noResponderMs: 0 })).result as HouseStatus;
  } catch {
    return null;
  }
}
