import { gatewayUrl, homeFolder, readToken } from './home.ts';
import { notRunning, rpcFailure, tokenRefused } from './rpc-errors.ts';

/** One JSON-RPC request over POST /rpc/v1; throws the gateway's own AppError. */
export async function rpcCall<T>(method: string, params: unknown = {}, timeoutMs = 30_000): Promise<T> {
  const home = homeFolder();
  const token = await readToken(home);
  const url = await gatewayUrl(home);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}/rpc/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch (error) {
    throw notRunning(url, error);
  }
  if (response.status === 401) throw tokenRefused(home);
  let reply: { result?: T; error?: Parameters<typeof rpcFailure>[0] };
  try {
    reply = JSON.parse(text);
  } catch (error) {
    throw notRunning(url, error);
  }
  if (reply.error !== undefined) throw rpcFailure(reply.error);
  return reply.result as T;
}
