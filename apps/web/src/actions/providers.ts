import i18next from 'i18next';
import type { DiscoverInput, ProviderInput } from '../wire/methods.ts';
import type { DiscoveredModel, Model, Provider } from '../wire/types.ts';
import { loadCatalog } from './catalog.ts';
import { request } from './rpc.ts';
import { showError, showToast } from './toasts.ts';

/** A provider far away may take its time. */
const DISCOVERY_TIMEOUT_MS = 60_000;

/** Saves a provider; rejects with RpcError. */
export async function configureProvider(input: ProviderInput): Promise<void> {
  await request('provider.configure', input);
  await loadCatalog();
  showToast({ text: i18next.t('provider.saved'), tone: 'plain' });
}

/** The models that a provider offers; rejects with RpcError. */
export async function discoverModels(input: DiscoverInput): Promise<DiscoveredModel[]> {
  return (await request('provider.discover_models', input, DISCOVERY_TIMEOUT_MS)).models;
}

export async function removeProvider(provider: Provider): Promise<void> {
  const { id: providerId } = provider;
  try {
    if (provider.origin === 'builtin') await request('provider.disconnect', { providerId });
    else await request('provider.remove', { providerId });
    await loadCatalog();
  } catch (error) {
    showError(error);
  }
}

export async function setModelEnabled(model: Model, enabled: boolean): Promise<void> {
  try {
    await request('model.set_enabled', { providerId: model.providerId, modelId: model.id, enabled });
    await loadCatalog();
  } catch (error) {
    showError(error);
  }
}
