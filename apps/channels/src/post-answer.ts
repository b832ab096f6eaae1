import type { PostOutcome } from '@rookery/kernel';

/** Sends an answer to a URL. Never throws: what went wrong is an outcome. */
export interface AnswerPoster {
  post(url: string, body: string, idempotencyKey: string, signal: AbortSignal): Promise<PostOutcome>;
}

const ANSWER_MS = 30_000;

function codeOf(error: unknown): string {
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: { code?: unknown } };
  const code = cause?.code;
  const text = typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
  return text.slice(0, 100);
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Posts over HTTP and HTTPS only, and follows no redirect: where an answer goes is what its owner configured. */
export function createAnswerPoster(): AnswerPoster {
  return {
    async post(url, body, idempotencyKey, signal) {
      if (!isHttp(url)) return { status: 400, retryAfter: null };
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, 'user-agent': 'rookery' },
          body,
          redirect: 'manual',
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
        });
        // The receiver's answer is of no interest.
        await response.body?.cancel();
        return { status: response.status, retryAfter: response.headers.get('retry-after') };
      } catch (error) {
        return { error: codeOf(error) };
      }
    },
  };
}
