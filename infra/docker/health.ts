import { request } from 'node:http';
import { hostname } from 'node:os';
import { connectBus, openBucket } from '@rookery/bus';
import { parseListen, readServerInfo } from '@rookery/nats';
import { instanceKey, instanceName, parseInstance } from '@rookery/protocol';
import { readServiceConfig, type ServiceName, serviceOf } from '@rookery/service';

/** Milliseconds after which a check that hangs is a bad sign. */
const timeoutMs = 5000;

function ready(http: string): Promise<boolean> {
  const { port } = parseListen(http, 'ROOKERY_HTTP');
  return new Promise((resolve) => {
    const check = request({ host: '127.0.0.1', port, path: '/readyz', timeout: timeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    check.once('timeout', () => check.destroy());
    check.once('error', () => resolve(false));
    check.end();
  });
}

/** A service without a listener is well while its lease is fresh: it holds one only as long as it reaches the journal. */
async function holdsLease(service: ServiceName, env: NodeJS.ProcessEnv): Promise<boolean> {
  const config = readServiceConfig(service, env);
  const { natsUrl: url, nkeySeed: seed } = config;
  const bus = await connectBus({ url, user: service, seed, name: `${service} health` });
  try {
    const bucket = await openBucket(bus, 'leases');
    const prefix = instanceKey(service, 'x').slice(0, -1);
    const { place } = parseInstance(instanceName(hostname(), config.slot, 'boot'));
    const keys = await bucket.keys(`${prefix}>`);
    return keys.some((key) => parseInstance(key.slice(prefix.length)).place === place);
  } finally {
    await bus.close();
  }
}

/** True where the service of this container does its work; `nats` is the server itself. */
export async function isHealthy(service: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => {
    setTimeout(() => resolve(false), timeoutMs).unref();
  });
  const check = async (): Promise<boolean> => {
    if (service === 'nats') return (await readServerInfo({ host: '127.0.0.1', port: 4222 })) !== null;
    if (service === 'gateway') return ready(env.ROOKERY_HTTP ?? '');
    const name = serviceOf(service);
    return name !== undefined && holdsLease(name, env);
  };
  return Promise.race([check().catch(() => false), late]);
}
