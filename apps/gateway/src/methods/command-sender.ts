import { randomUUID } from 'node:crypto';
import { type Bus, callCommand } from '@rookery/bus';
import {
  type Authorization,
  type CommandService,
  commandIdOf,
  commandSubject,
  DEFAULT_AGENT,
  DEFAULT_WORLD,
  type Timings,
} from '@rookery/protocol';
import type { RpcCall } from '../rpc/call.ts';

export interface Edge {
  agentId: string;
  world: string;
}

export interface CommandSenderPorts {
  bus: Bus;
  homeId: string;
  edge: () => Edge;
  timings: Pick<Timings, 'commandTimeoutMs' | 'publishTimeoutMs'>;
}

export interface Command {
  service: CommandService;
  method: string;
  params: unknown;
  /** Instance for commands that only one can serve. */
  instance?: string;
  /** What makes a client's request id unique, and that id; a command without one gets an id of its own. */
  request?: { scope: string; clientRequestId: string | undefined };
  authorization?: Authorization;
  /** False for what has an effect at each attempt. */
  repeatable?: boolean;
  /** How long to go on while nobody listens; by default long enough for a service or the server to be started again. */
  patienceMs?: number;
}

/** Agent and world of an edge as the configuration names them. */
export function edgeOf(edges: Record<string, Edge>, name: string): Edge {
  const edge = Object.hasOwn(edges, name) ? edges[name] : undefined;
  return { agentId: edge?.agentId ?? DEFAULT_AGENT, world: edge?.world ?? DEFAULT_WORLD };
}

/** Sends commands of clients to the services, as this edge's agent and world. */
export class CommandSender {
  readonly #ports: CommandSenderPorts;

  constructor(ports: CommandSenderPorts) {
    this.#ports = ports;
  }

  /**
   * Sends a command and gives its result. Every attempt carries the same command id, so that one that was stored is
   * found again. Throws the service's own error, or SERVICE_UNAVAILABLE.
   */
  async send(command: Command, call: Pick<RpcCall, 'announce' | 'seen'> | null): Promise<unknown> {
    const { bus, edge, timings } = this.#ports;
    const { agentId, world } = edge();
    const commandId = this.#idOf(command);
    call?.announce(commandId);
    const subject = commandSubject(command.service, command.method, command.instance ?? 'any');
    const { result, seq } = await callCommand(
      bus,
      subject,
      {
        method: command.method,
        params: command.params,
        commandId,
        agentId,
        world,
        ...(command.authorization === undefined ? {} : { authorization: command.authorization }),
      },
      {
        timeoutMs: timings.commandTimeoutMs,
        noResponderMs: command.patienceMs ?? timings.commandTimeoutMs / 2,
        ...(command.repeatable === false ? {} : { attemptMs: timings.publishTimeoutMs }),
      },
    );
    // Memories have a stream of their own, whose positions say nothing about the journal.
    if (command.service !== 'memory') call?.seen.note(seq);
    return result;
  }

  #idOf({ method, request }: Command): string {
    if (request?.clientRequestId === undefined) return randomUUID();
    return commandIdOf(this.#ports.homeId, method, request.scope, request.clientRequestId);
  }
}
