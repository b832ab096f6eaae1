import { INBOX_ROOT } from '@rookery/protocol';
import type { Bus } from './connection.ts';

export interface ServiceStats {
  requests: number;
  errors: number;
  /** Messages with a foreign subject or reply. */
  dropped: number;
  processingMs: number;
}

interface Announced {
  service: string;
  instance: string;
  version: string;
}

/** Answers the NATS services protocol (ADR-32: $SRV.PING, .INFO, .STATS), so that the `nats` tool finds us. */
export function announceService(
  bus: Bus,
  about: Announced,
  methods: string[],
  stats: () => ServiceStats,
): { stop(): void } {
  const started = new Date().toISOString();
  const name = `rookery-${about.service}`;
  const identity = { name, id: about.instance, version: about.version, metadata: {} };
  const answers: Record<string, () => object> = {
    PING: () => ({ type: 'io.nats.micro.v1.ping_response', ...identity }),
    INFO: () => ({
      type: 'io.nats.micro.v1.info_response',
      ...identity,
      description: `Rookery ${about.service}`,
      endpoints: methods.map((method) => ({
        name: method.replaceAll('.', '-'),
        subject: `cmd.${about.service}.any.${method}`,
        queue_group: about.service,
        metadata: {},
      })),
    }),
    STATS: () => {
      const { requests, errors, processingMs } = stats();
      const processing = Math.round(processingMs * 1e6);
      const endpoint = {
        name: 'commands',
        subject: `cmd.${about.service}.>`,
        queue_group: about.service,
        num_requests: requests,
        num_errors: errors,
        last_error: '',
        processing_time: processing,
        average_processing_time: requests === 0 ? 0 : Math.round(processing / requests),
      };
      return { type: 'io.nats.micro.v1.stats_response', ...identity, started, endpoints: [endpoint] };
    },
  };
  const subscriptions = Object.entries(answers).flatMap(([verb, answer]) =>
    [`$SRV.${verb}`, `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${about.instance}`].map((subject) =>
      bus.nc.subscribe(subject, {
        callback: (error, message) => {
          if (error || message.subject !== subject || !message.reply?.startsWith(INBOX_ROOT)) return;
          try {
            message.respond(JSON.stringify(answer()));
          } catch {
            // The connection is closing; whoever looks around asks again.
          }
        },
      }),
    ),
  );
  return {
    stop() {
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
}
