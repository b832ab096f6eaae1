import type { HttpResponse } from './transport.ts';

/** Up to `maxBytes` of a body as text, and whether it ended within them; the rest is dropped with its connection. */
export async function readBounded(
  response: HttpResponse,
  maxBytes: number,
  idleMs: number,
): Promise<{ text: string; complete: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (let chunk = await response.read(idleMs); chunk; chunk = await response.read(idleMs)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= maxBytes) continue;
    response.cancel(new Error('body too large'));
    return { text: Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8'), complete: false };
  }
  return { text: Buffer.concat(chunks).toString('utf8'), complete: true };
}
