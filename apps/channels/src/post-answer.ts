import type { PostOutcome } from '@rookery/kernel';
import type { Dispatcher } from 'undici';

/** Sends an answer to a URL. Never throws: what went wrong is an outcome. */
export interface AnswerPoster {
  post(url: string, body: string, idempotencyKey: string, signal: AbortSignal): Promise<PostOutcome>;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
const ANSWER_MS = 30_000;
/** The receiver's answer is of no interest; this much is read so that the connection can be used again. */
const IGNORED_BYTES = 16 * 1024;

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const text = typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
  return text.slice(0, 100);
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Posts over HTTP and HTTPS only, and follows no redirect: where an answer goes is what its owner configured. */
export function createAnswerPoster(): AnswerPoster {
  let dispatcher: Promise<Dispatcher> | null = null;
  // Loaded with the first answer: most homes have no webhook.
  const connect = async (): Promise<Dispatcher> => {
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
    return new Agent({ connect: { timeout: CONNECT_MS } });
  };
  return {
    async post(url, body, idempotencyKey, signal) {
      if (!isHttp(url)) return { status: 400, retryAfter: null };
      try {
        dispatcher ??= connect();
        const { origin, pathname, search } = new URL(url);
        const response = await (await dispatcher).request({
          origin,
          path: `${pathname}${search}`,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, 'user-agent': 'rookery' },
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
          headersTimeout: ANSWER_MS,
          bodyTimeout: ANSWER_MS,
        });
        const header = response.headers['retry-after'];
        await response.body.dump({ limit: IGNORED_BYTES }).catch(() => undefined);
        return { status: response.statusCode, retryAfter: typeof header === 'string' ? header : null };
      } catch (error) {
        return { error: codeOf(error) };
      }
    },
    async close() {
      await (await dispatcher)?.destroy();
    },
  };
}
