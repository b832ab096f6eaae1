import type { Msg, Subscription } from '@nats-io/transport-node';
import {
  AppError,
  type CommandReply,
  type CommandRequest,
  type CommandService,
  commandRequestSchema,
  INBOX_ROOT,
  toAppError,
} from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { announceService, type ServiceStats } from './discovery.ts';
import { busError, requireSendable } from './failures.ts';

export type CommandHandler = (request: CommandRequest) => Promise<{ result: unknown; seq?: number }>;

export interface ServeOptions {
  service: CommandService;
  /** Own name: commands to `cmd.<service>.<instance>.…` come here alone. */
  instance: string;
  version: string;
  /** Also take commands to any instance, shared with the others. Default true. */
  any?: boolean;
  onError?: (method: string, error: AppError) => void;
}

export interface CommandServer {
  stats(): ServiceStats;
  stop(): Promise<void>;
}

const encoder = new TextEncoder();
const encode = (reply: CommandReply): Uint8Array => encoder.encode(JSON.stringify(reply));

/** A reply as it can be sent; REQUEST_TOO_LARGE or INTERNAL in its place where it cannot. */
function sendable(bus: Bus, reply: CommandReply): { bytes: Uint8Array; error: AppError | null } {
  try {
    const bytes = encode(reply);
    requireSendable(bus, bytes.length);
    return { bytes, error: null };
  } catch (thrown) {
    const found = toAppError(thrown);
    const message = 'The answer is larger than one message may be; ask for less.';
    const error =
      found.code === 'REQUEST_TOO_LARGE' ? new AppError(found.code, { message, details: found.details }) : found;
    return { bytes: encode({ ok: false, error: error.toBody() }), error };
  }
}

/**
 * Answers commands of a service. A message whose subject is not the one subscribed to, or whose reply is no inbox, is
 * dropped: whoever can make the server deliver to us could otherwise forge commands or make us write elsewhere.
 */
export async function serveCommands(
  bus: Bus,
  options: ServeOptions,
  handlers: Record<string, CommandHandler>,
): Promise<CommandServer> {
  const stats: ServiceStats = { requests: 0, errors: 0, dropped: 0, processingMs: 0 };
  const running = new Set<Promise<void>>();

  const handle = async (message: Msg, method: string): Promise<void> => {
    const started = performance.now();
    stats.requests += 1;
    const failed = (error: AppError) => {
      stats.errors += 1;
      options.onError?.(method, error);
    };
    let reply: CommandReply;
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (handler === undefined) throw new AppError('METHOD_NOT_FOUND', { details: { method } });
      const request = commandRequestSchema.safeParse(message.json());
      if (!request.success || request.data.method !== method) throw new AppError('INVALID_REQUEST');
      reply = { ok: true, ...(await handler(request.data)) };
    } catch (thrown) {
      const error = toAppError(thrown instanceof SyntaxError ? new AppError('PARSE_ERROR') : thrown);
      failed(error);
      reply = { ok: false, error: error.toBody() };
    }
    stats.processingMs += performance.now() - started;
    const { bytes, error } = sendable(bus, reply);
    if (error !== null) failed(error);
    try {
      message.respond(bytes);
    } catch (thrown) {
      // The connection is gone; whoever asked finds that nobody answered, and asks again.
      if (!bus.nc.isClosed()) failed(busError(thrown));
    }
  };

  const subscribe = (prefix: string, queue?: string): Subscription =>
    bus.nc.subscribe(`${prefix}.>`, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        if (error) return;
        if (!message.subject.startsWith(`${prefix}.`) || !message.reply?.startsWith(INBOX_ROOT)) {
          stats.dropped += 1;
          return;
        }
        const work = handle(message, message.subject.slice(prefix.length + 1));
        running.add(work);
        void work.finally(() => running.delete(work));
      },
    });

  const subscriptions = [subscribe(`cmd.${options.service}.${options.instance}`)];
  if (options.any !== false) subscriptions.push(subscribe(`cmd.${options.service}.any`, options.service));
  const announced = announceService(bus, options, Object.keys(handlers), () => stats);
  await bus.nc.flush();
  return {
    stats: () => ({ ...stats }),
    async stop() {
      announced.stop();
      if (!bus.nc.isClosed()) await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.allSettled(running);
    },
  };
}
