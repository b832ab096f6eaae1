import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { type Bus, busError } from '@rookery/bus';
import { type AppError, agentRuns } from '@rookery/protocol';

/**
 * A commit of a thread's turns that the server offers to one of the agents. It is a hint, so its contents are not even
 * read: the agent looks in its own view, and the claim in the journal decides.
 */
export interface Offer {
  streamSeq: number;
  subject: string;
  ack(): void;
}

export interface Offers {
  /** Hands over up to `max` offers as they come, for `waitMs` (at least 1,000). Trouble with the server is reported. */
  pull(max: number, waitMs: number, onOffer: (offer: Offer) => void): Promise<void>;
  stop(): void;
}

const MAX_FETCH = 500;
const TROUBLE_PAUSE_MS = 500;

const toOffer = (message: JsMsg): Offer => ({
  streamSeq: message.seq,
  subject: message.subject,
  ack: () => message.ack(),
});

/** Pulls from the durable consumer `agent-runs`; `fetch` sized by free slots is what shares fairly between agents. */
export function openOffers(bus: Bus, onTrouble: (error: AppError) => void): Offers {
  let consumer: Consumer | null = null;
  let current: { stop(): void } | null = null;
  let stopped = false;
  return {
    async pull(max, waitMs, onOffer) {
      try {
        consumer ??= await bus.js.consumers.get(agentRuns.stream, agentRuns.durable);
        const expires = Math.max(1000, waitMs);
        const messages = await consumer.fetch({ max_messages: Math.min(max, MAX_FETCH), expires });
        current = messages;
        if (stopped) messages.stop();
        for await (const message of messages) onOffer(toOffer(message));
      } catch (error) {
        consumer = null;
        if (stopped) return;
        onTrouble(busError(error));
        await new Promise((resolve) => setTimeout(resolve, TROUBLE_PAUSE_MS));
      } finally {
        current = null;
      }
    },
    stop() {
      stopped = true;
      current?.stop();
    },
  };
}
