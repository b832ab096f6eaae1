import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedAnswer {
  path: string;
  body: string;
  headers: IncomingHttpHeaders;
}

/** A real HTTP server that answers are posted to. */
export interface AnswerReceiver {
  url: string;
  readonly received: ReceivedAnswer[];
  /** Answers about a delivery, in the order in which they came. */
  of(deliveryId: string): ReceivedAnswer[];
  stop(): Promise<void>;
}

/** `reply` is called with the number of times that the key of the request has come before. */
export async function startAnswerReceiver(
  reply: (response: ServerResponse, repetition: number, answer: ReceivedAnswer) => void,
): Promise<AnswerReceiver> {
  const received: ReceivedAnswer[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const answer = { path: request.url ?? '', body, headers: request.headers };
      const key = request.headers['idempotency-key'];
      const repetition = received.filter((before) => before.headers['idempotency-key'] === key).length;
      received.push(answer);
      reply(response, repetition, answer);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    of: (deliveryId) =>
      received.filter(({ body }) => (JSON.parse(body) as { deliveryId: string }).deliveryId === deliveryId),
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
