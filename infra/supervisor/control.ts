import { type Bus, connectBus } from '@rookery/bus';
import { readSeed } from '@rookery/nats';
import { type CommandReply, commandSubject, type HouseStatus, INBOX_ROOT } from '@rookery/protocol';

export interface Control {
  close(): Promise<void>;
}

export interface ControlOptions {
  home: string;
  natsUrl: string;
  /** Called once the answer is on its way. */
  requestStop(reason: string): void;
  status(): HouseStatus;
}

/**
 * Answers `runtime.shutdown` and `runtime.status` over NATS as user `supervisor`. Two subjects without parameters, answered by
 * hand: what the services use for theirs would cost this process, which is there all the time, a tenth of its memory.
 */
export async function serveControl(options: ControlOptions): Promise<Control> {
  const seed = await readSeed(options.home, 'supervisor');
  const bus: Bus = await connectBus({ url: options.natsUrl, user: 'supervisor', seed, name: 'supervisor' });
  const answer = (method: string, work: () => unknown) => {
    const subject = commandSubject('supervisor', method);
    bus.nc.subscribe(subject, {
      callback: (error, message) => {
        // Anything that a server or a forger can make arrive here otherwise is dropped, as in every service.
        if (error || message.subject !== subject || !message.reply?.startsWith(INBOX_ROOT)) return;
        message.respond(JSON.stringify({ ok: true, result: work() } satisfies CommandReply));
      },
    });
  };
  answer('runtime.status', options.status);
  answer('runtime.shutdown', () => {
    // The answer goes out before the gateway that waits for it is stopped.
    setTimeout(() => options.requestStop('runtime.shutdown'), 100);
    return { accepted: true };
  });
  await bus.nc.flush();
  return { close: () => bus.close() };
}
