// The one program of the image: `init`, `run SERVICE`, `health SERVICE` and, while the image is built, `fetch-nats`.
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainServer, parseListen } from '@rookery/nats';
import { toAppError } from '@rookery/protocol';
import { homeFolder, serviceOf } from '@rookery/service';
import { isHealthy } from './health.ts';
import { initHomes, vaultKeysFile } from './init.ts';

const [command, ...args] = process.argv.slice(2);

async function run(service: string): Promise<void> {
  if (serviceOf(service) === undefined) throw new Error(`there is no service ${service}`);
  process.env.ROOKERY_VAULT_KEYS = readFileSync(join(homeFolder(process.env), vaultKeysFile), 'utf8');
  await import(new URL(`./${service}.mjs`, import.meta.url).href);
}

async function main(): Promise<void> {
  switch (command) {
    case 'init': {
      const [homes = '/homes', natsHome = '/data', address = '0.0.0.0:4222'] = args;
      const listen = parseListen(address, 'init');
      await initHomes({ home: homeFolder(process.env), homes, natsHome, listen, env: process.env });
      return;
    }
    case 'run':
      return run(args[0] ?? '');
    case 'health':
      process.exit((await isHealthy(args[0] ?? '', process.env)) ? 0 : 1);
      break;
    case 'fetch-nats': {
      const { path } = await obtainServer(process.env, (text) => process.stdout.write(`${text}\n`));
      copyFileSync(path, args[0] ?? 'nats-server');
      chmodSync(args[0] ?? 'nats-server', 0o755);
      return;
    }
    default:
      throw new Error(
        'usage: docker.mjs init [HOMES NATS_HOME LISTEN] | run SERVICE | health SERVICE | fetch-nats FILE',
      );
  }
}

main().catch((error: unknown) => {
  const { code, message } = toAppError(error);
  process.stderr.write(`${code === 'INTERNAL' && error instanceof Error ? error.message : message}\n`);
  process.exit(1);
});
