import { request } from 'node:http';
import { formatListen, type Listen } from '@rookery/nats';

/** Where a program on this machine reaches a listener: one on all addresses is reached on loopback. */
export function reachable({ host, port }: Listen): Listen {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return host === '::' ? { host: '::1', port } : { host, port };
}

/** Posts JSON with node's own client: `fetch` would keep several megabytes in the supervisor. */
function post(listen: Listen, path: string, token: string, body: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const outgoing = request(
      { ...listen, path, method: 'POST', headers, timeout: 10_000, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => resolve(text));
      },
    );
    outgoing.once('error', reject);
    outgoing.once('timeout', () => outgoing.destroy(new Error('the gateway does not answer')));
    outgoing.end(JSON.stringify(body));
  });
}

/** Asks the gateway for a one-time code and gives the link to open; the code stands in the fragment, which no server sees. */
export async function openLink(http: Listen, token: string): Promise<string> {
  const listen = reachable(http);
  const call = { jsonrpc: '2.0', id: 1, method: 'auth.create_code', params: {} };
  const text = await post(listen, '/rpc/v1', token, call);
  const reply = JSON.parse(text) as { result?: { code?: unknown }; error?: { message?: unknown } };
  const code = reply.result?.code;
  if (typeof code !== 'string') throw new Error(`the gateway gave no code: ${reply.error?.message ?? 'no reason'}`);
  return `http://${formatListen(listen)}/#code=${code}`;
}
