import { join } from 'node:path';
import { AppError, type HouseStatus } from '@rookery/protocol';
import type { ListedModel } from '../choose-model.ts';
import { gatewayUrl } from '../home.ts';
import { rpcCall } from '../rpc-call.ts';
import { type Finding, reason } from './finding.ts';

const name = 'gateway address';

async function answer(url: string): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    return { status: response.status, text: (await response.text()).slice(0, 300) };
  } catch {
    return null;
  }
}

/** Whether the gateway answers, is ready, and takes the home's token. */
export async function checkGateway(home: string): Promise<Finding[]> {
  const url = await gatewayUrl(home);
  const health = await answer(`${url}/healthz`);
  if (health === null || health.status !== 200) {
    const found = health === null ? `nobody answers at ${url}` : `${url}/healthz answers ${health.status}`;
    return [{ name, state: 'wrong', found, todo: 'Start Rookery (`npm start`), or correct ROOKERY_HTTP.' }];
  }
  const ready = await answer(`${url}/readyz`);
  if (ready?.status !== 200) {
    const todo = 'It waits for NATS or for the journal; what is wrong above says for which.';
    return [{ name, state: 'wrong', found: `${url} is not ready: ${ready?.text ?? 'no answer'}`, todo }];
  }
  try {
    const { supervisor } = await rpcCall<{ supervisor: HouseStatus | null }>('system.status');
    const restarted = supervisor?.processes.filter(({ restarts }) => restarts > 0) ?? [];
    return [
      { name, state: 'ok', found: `${url}, the token is right` },
      ...restarted.map((process) => restartsOf(home, process)),
    ];
  } catch (error) {
    return [{ name, state: 'wrong', found: reason(error) }];
  }
}

/** A process that ended without being told to. */
function restartsOf(home: string, { name, failing, restarts }: HouseStatus['processes'][number]): Finding {
  const log = name === 'nats-server' ? join(home, 'nats', 'nats.log') : join(home, 'logs', `${name}.log`);
  return {
    name: `starts of ${name}`,
    state: failing ? 'wrong' : 'note',
    found: `started again ${restarts === 1 ? 'once' : `${restarts} times`}${failing ? ', and fails again and again' : ''}`,
    todo: `Its log says why: ${log}`,
  };
}

/** Whether a model is there to answer. */
export async function checkModels(): Promise<Finding[]> {
  const about = 'models';
  try {
    const { models } = await rpcCall<{ models: ListedModel[] }>('model.list');
    const enabled = models.filter((model) => model.enabled);
    const own = enabled.filter(({ providerId }) => providerId !== 'demo');
    if (own.length > 0) return [{ name: about, state: 'ok', found: `${own.length} enabled` }];
    const found = enabled.length > 0 ? 'only the built-in demo, which is scripted' : 'none is enabled';
    return [{ name: about, state: 'note', found, todo: 'Add a provider on the page (`npx rookery open`).' }];
  } catch (error) {
    // A gateway that cannot be asked was reported before.
    return error instanceof AppError ? [] : [{ name: about, state: 'wrong', found: reason(error) }];
  }
}
