import { connect, createServer, type Socket } from 'node:net';
import { NatsFrames } from './nats-frames.ts';

/** A message on its way from the server to a client. */
export interface Delivery {
  subject: string;
  /** Headers and body as text. */
  text: string;
  /** Subject of the publication that this answers, where it is an answer. */
  answers: string | null;
}

export type Verdict = 'pass' | 'drop' | 'hold';

export interface TcpProxy {
  url: string;
  /** Judges every message to a client; the default passes all. */
  judge(rule: (delivery: Delivery) => Verdict): void;
  /** Delivers what was held, in order. */
  release(): void;
  /** Delays all bytes of both directions by this many milliseconds from now on. */
  delay(ms: number): void;
  /** Breaks all connections and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  counts: { passed: number; dropped: number; held: number };
  close(): Promise<void>;
}

/**
 * A TCP proxy before a nats-server that can lose, hold or delay what the server says: a lost
 * acknowledgement of a message that was stored is what a client cannot tell from a message lost.
 */
export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const counts = { passed: 0, dropped: 0, held: 0 };
  let rule: (delivery: Delivery) => Verdict = () => 'pass';
  let held: (() => void)[] = [];
  let delayMs = 0;
  let open = true;

  const later = (send: () => void) => {
    if (delayMs === 0) send();
    else setTimeout(send, delayMs);
  };

  const serve = (client: Socket) => {
    if (!open) return client.destroy();
    const server = connect(Number(port), hostname);
    const requests = new Map<string, string>();
    const fromClient = new NatsFrames();
    const fromServer = new NatsFrames();
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      for (const frame of fromClient.push(chunk)) if (frame.reply !== null) requests.set(frame.reply, frame.subject);
      later(() => server.write(chunk));
    });
    server.on('data', (chunk: Buffer) => {
      for (const frame of fromServer.push(chunk)) {
        const send = () => later(() => client.write(frame.raw));
        if (frame.subject === '') {
          send();
          continue;
        }
        const answers = requests.get(frame.subject) ?? null;
        const verdict = rule({ subject: frame.subject, text: frame.payload.toString(), answers });
        counts[verdict === 'pass' ? 'passed' : verdict === 'drop' ? 'dropped' : 'held'] += 1;
        if (verdict === 'pass') send();
        if (verdict === 'hold') held.push(send);
      }
    });
    return undefined;
  };

  const listener = createServer(serve);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `nats://127.0.0.1:${address.port}`,
    judge: (next) => {
      rule = next;
    },
    release: () => {
      const sends = held;
      held = [];
      for (const send of sends) send();
    },
    delay: (ms) => {
      delayMs = ms;
    },
    cut: () => {
      open = false;
      destroyAll();
    },
    mend: () => {
      open = true;
    },
    counts,
    close: async () => {
      open = false;
      destroyAll();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
