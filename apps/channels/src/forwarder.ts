import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, callCommand, signAuthorization } from '@rookery/bus';
import { inlineBlobs } from '@rookery/journal';
import { deliveryIdsOf, outboxBackoffMs, webhookThreadTitle } from '@rookery/kernel';
import {
  type AppError,
  type Authorization,
  commandIdOf,
  commandSubject,
  type LongText,
  toAppError,
} from '@rookery/protocol';
import { faultPoint, logError } from '@rookery/service';
import type { ChannelPorts } from './channel-ports.ts';
import { refuseDelivery } from './finish.ts';
import { inOrder } from './in-order.ts';
import { hasThread, loadContent, loadOpenDeliveries, type OpenDelivery } from './views.ts';

/** Turns acknowledged deliveries into turns. */
export interface Forwarder {
  /** Takes a delivery up at once, behind those of its chat that are under way. */
  forward(delivery: OpenDelivery): void;
  /** Looks for deliveries without a turn. */
  sweep(): void;
  stop(): Promise<void>;
}

export interface AgentPort {
  /** Sends a command to any agent. */
  call(
    method: string,
    request: { world: string; agentId: string; commandId: string; params: unknown; authorization?: Authorization },
  ): Promise<void>;
  /** Signs the permission profile that turns of webhooks run under. */
  sign(threadId: string, clientRequestId: string): Authorization;
}

/** The agents on the bus, called with the channels' own signature. */
export function agentPort(bus: Bus, seed: string, profileId: () => string, timeoutMs: number): AgentPort {
  return {
    async call(method, request) {
      await callCommand(bus, commandSubject('agent', method), { method, ...request }, { timeoutMs });
    },
    sign: (threadId, clientRequestId) => signAuthorization(seed, { threadId, clientRequestId, profileId: profileId() }),
  };
}

/**
 * Both commands are idempotent by ids that follow from the delivery, so it does no harm that several instances, or one
 * after a restart, send them again: the sweep does until the turn is in the journal.
 */
export function startForwarder(ports: ChannelPorts, agent: AgentPort): Forwarder {
  const { homeId, model, blobs, timings, log } = ports;
  const queue = inOrder();
  const underWay = new Map<string, Promise<void>>();
  const failures = new Map<string, { attempts: number; notBefore: number }>();
  let seenBefore: ReadonlySet<string> | null = null;
  let stopped = false;

  const submit = async (delivery: OpenDelivery): Promise<void> => {
    const { world, agentId, account, chat, deliveryId, providerId, modelId } = delivery;
    const ids = deliveryIdsOf(homeId, account, chat, deliveryId);
    const { threadId, branchId, threadRequestId, turnRequestId } = ids;
    const contentJson = delivery.contentJson ?? model.read((db) => loadContent(db, delivery.runId));
    if (contentJson === null) return;
    if (!model.read((db) => hasThread(db, threadId))) {
      const commandId = commandIdOf(homeId, 'thread.create', threadId, threadRequestId);
      const params = { title: webhookThreadTitle(account, chat), clientRequestId: threadRequestId };
      await agent.call('thread.create', { world, agentId, commandId, params });
    }
    faultPoint('channels:before-turn');
    const content = await inlineBlobs(JSON.parse(contentJson) as LongText, blobs, threadId);
    const commandId = commandIdOf(homeId, 'turn.start', threadId, turnRequestId);
    const params = { threadId, branchId, content, providerId, modelId, clientRequestId: turnRequestId };
    const authorization = agent.sign(threadId, turnRequestId);
    await agent.call('turn.start', { world, agentId, commandId, params, authorization });
  };

  const refuse = async (delivery: OpenDelivery, { code }: AppError, attempts: number): Promise<void> => {
    const { runId } = delivery;
    try {
      await refuseDelivery(ports, delivery, code, attempts);
      failures.delete(runId);
      log.warn({ runId, code }, 'a delivery was refused for good');
    } catch (thrown) {
      failures.set(runId, { attempts, notBefore: performance.now() + outboxBackoffMs(attempts, timings) });
      logError(log.child({ runId }), 'the end of a delivery could not be stored yet', toAppError(thrown));
    }
  };

  const attempt = async (delivery: OpenDelivery): Promise<void> => {
    if (stopped) return;
    const { runId } = delivery;
    try {
      await submit(delivery);
      failures.delete(runId);
    } catch (thrown) {
      const attempts = (failures.get(runId)?.attempts ?? 0) + 1;
      const known = toAppError(thrown);
      // What an agent itself refuses for good is refused at the next attempt too. An error of the way there has a cause.
      if (known.retry === 'never' && known.cause === undefined) return await refuse(delivery, known, attempts);
      failures.set(runId, { attempts, notBefore: performance.now() + outboxBackoffMs(attempts, timings) });
      // Content stays out of the log; the ids say which delivery it is.
      logError(log.child({ runId, attempts }), 'a delivery could not become a turn yet', toAppError(thrown));
    }
  };

  const forward = (delivery: OpenDelivery): void => {
    const { runId, threadId } = delivery;
    if (stopped || underWay.has(runId)) return;
    const work = queue(threadId, () => attempt(delivery)).finally(() => underWay.delete(runId));
    underWay.set(runId, work);
  };

  const takeOpen = (): void => {
    const open = model.read(loadOpenDeliveries);
    const now = performance.now();
    for (const delivery of open) {
      const { runId } = delivery;
      // The first sweep takes what a predecessor left; later ones leave what another instance has just accepted to it.
      const due = seenBefore === null || seenBefore.has(runId) || failures.has(runId);
      if (due && (failures.get(runId)?.notBefore ?? 0) <= now) forward(delivery);
    }
    seenBefore = new Set(open.map((delivery) => delivery.runId));
    for (const runId of failures.keys()) if (!seenBefore.has(runId)) failures.delete(runId);
  };

  const sweep = (): void => {
    try {
      // Rows of a read model that is behind show deliveries as open whose turns ended long ago.
      if (model.state().state === 'live') takeOpen();
    } catch (thrown) {
      logError(log, 'the open deliveries could not be read', toAppError(thrown));
    }
  };

  sweep();
  const timer = setInterval(sweep, timings.sweepMs);
  return {
    forward,
    sweep,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.race([Promise.allSettled(underWay.values()), sleep(timings.drainMs, undefined, { ref: false })]);
    },
  };
}
