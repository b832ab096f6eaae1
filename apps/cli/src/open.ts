import { gatewayUrl, homeFolder } from './home.ts';
import { rpcCall } from './rpc-call.ts';

/** `rookery open`: prints a link; the code stands in its fragment, which no server and no log sees. */
export async function open(): Promise<number> {
  const { code } = await rpcCall<{ code: string }>('auth.create_code');
  process.stdout.write(`${await gatewayUrl(homeFolder())}/#code=${code}\n`);
  return 0;
}
