import { type Bus, connectBus } from '@rookery/bus';
import { readSeed } from '@rookery/nats';
import { type CommandReply, commandSubject, INBOX_ROOT } from '@rookery/protocol';

export interface Control {
  close(): Promise<void>;
}

/**
 * Answers `runtime.shutdown` over NATS as user `supervisor`; `requestStop` is called once the answer is on its way.
 * One subject without parameters, answered by hand: what the services use for theirs would cost this process, which
 * is there all the time, a tenth of its memory.
 */
export async function serveControl(
  options: { home: string; natsUrl: string },
  requestStop: (reason: string) => void,
): Promise<Control> {
  const seed = await readSeed(options.home, 'supervisor');
  const bus: Bus = await connectBus({ url: options.natsUrl, user: 'supervisor', seed, name: 'supervisor' });
  const subject = commandSubject('supervisor', 'runtime.shutdown');
  bus.nc.subscribe(subject, {
    callback: (error, message) => {
      // Anything that a server or a forger can make arrive here otherwise is dropped, as in every service.
      if (error || message.subject !== subject || !message.reply?.startsWith(INBOX_ROOT)) return;
      message.respond(JSON.stringify({ ok: true, result: { accepted: true } } satisfies CommandReply));
      // The answer goes out before the gateway that waits for it is stopped.
      setTimeout(() => requestStop('runtime.shutdown'), 100);
    },
  });
  await bus.nc.flush();
  return { close: () => bus.close() };
}
