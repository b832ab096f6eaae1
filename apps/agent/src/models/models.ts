import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bus, ConfigView } from '@rookery/bus';
import {
  AppError,
  canonicalSha256,
  DEMO_PROVIDER,
  isDemoOffered,
  limits,
  type ModelConfig,
  type ProviderConfig,
  toAppError,
} from '@rookery/protocol';
import type { ProviderEndpoint, ProviderEvent, ProviderRequest, streamChat } from '@rookery/provider';
import { Redactor } from '@rookery/secrets';
import { logError, type ServiceConfig } from '@rookery/service';
import { openProviderSecrets } from './provider-secrets.ts';

/** A model that a run may be submitted with. */
export interface ChosenModel {
  contextWindow: number;
  supportsTools: boolean;
  /** Fingerprint of what is public of the provider's configuration. */
  fingerprint: string;
}

/** Configured providers, live, with their secrets from the vault. */
export interface Models {
  /** MODEL_NOT_CONFIGURED where it is unknown or disabled. */
  choose(providerId: string, modelId: string): Promise<ChosenModel>;
  /** Where and how to reach a provider now. */
  endpoint(providerId: string, modelId: string): Promise<{ endpoint: ProviderEndpoint; reasoningEffort?: string }>;
  /** Asks a provider once and tells what it says; throws ProviderError. */
  stream(request: ProviderRequest, options: StreamOptions): AsyncIterable<ProviderEvent>;
  /** Knows every secret that this process has seen. */
  readonly redactor: Redactor;
  stop(): void;
}

type StreamOptions = Parameters<typeof streamChat>[1];

/** Files of the home that hold a secret of its own. */
const OWN_SECRETS = ['token', 'master.key'];

async function demoProvider(home: string): Promise<ProviderConfig | null> {
  try {
    const { url } = JSON.parse(await readFile(join(home, 'run', 'demo.json'), 'utf8')) as { url: string };
    const model: ModelConfig = {
      displayName: 'Demo (scripted)',
      enabled: true,
      supportsTools: true,
      contextWindow: limits.contextWindowDefault,
      reasoningEfforts: [],
      reasoningEffort: null,
    };
    return {
      displayName: 'Demo (scripted)',
      origin: 'builtin',
      baseUrl: url,
      apiKey: null,
      headers: {},
      models: { 'demo-1': model },
    };
  } catch {
    return null;
  }
}

/** Opens the providers of the configuration and the agent's vault. */
export async function openModels(bus: Bus, settings: ConfigView, config: ServiceConfig): Promise<Models> {
  const redactor = new Redactor();
  const protectFile = async (file: string): Promise<void> => {
    const value = (await readFile(join(config.home, file), 'utf8').catch(() => '')).trim();
    if (value !== '') redactor.add(value);
  };
  await Promise.all(OWN_SECRETS.map(protectFile));
  // A token that is made anew is a secret from that moment on.
  const files = watch(config.home, { persistent: false }, (_, name) => {
    if (name !== null && OWN_SECRETS.includes(name)) void protectFile(name);
  });
  files.on('error', (error) => logError(config.log, 'the home folder is not watched', toAppError(error)));

  const secrets = await openProviderSecrets(bus, settings, config, redactor);

  const provider = async (providerId: string): Promise<ProviderConfig | null> => {
    const section = settings.get('providers');
    if (providerId !== DEMO_PROVIDER) return section.providers[providerId] ?? null;
    // What the catalogue hides is not to be had either.
    return isDemoOffered(section) ? await demoProvider(config.home) : null;
  };

  const find = async (
    providerId: string,
    modelId: string,
  ): Promise<{ provider: ProviderConfig; model: ModelConfig }> => {
    const found = await provider(providerId);
    const model = found?.models[modelId];
    if (found === null || model === undefined || !model.enabled) {
      throw new AppError('MODEL_NOT_CONFIGURED', { details: { providerId, modelId } });
    }
    return { provider: found, model };
  };

  return {
    redactor,
    async *stream(request, options) {
      // Loaded with the first call: an agent at rest needs no HTTP client.
      const provider = await import('@rookery/provider');
      yield* provider.streamChat(request, options);
    },
    stop() {
      files.close();
      secrets.stop();
    },
    async choose(providerId, modelId) {
      const { provider: chosen, model } = await find(providerId, modelId);
      const { contextWindow, supportsTools } = model;
      const { baseUrl, origin } = chosen;
      // The demo listens elsewhere at each start; that is no change of configuration.
      const address = providerId === DEMO_PROVIDER ? null : baseUrl;
      const fingerprint = canonicalSha256({
        baseUrl: address,
        contextWindow,
        maxOutputTokens: null,
        modelId,
        origin,
        providerId,
        supportsTools,
      });
      return { contextWindow, supportsTools, fingerprint };
    },
    async endpoint(providerId, modelId) {
      const { provider: chosen, model } = await find(providerId, modelId);
      const endpoint: ProviderEndpoint = { baseUrl: chosen.baseUrl };
      if (chosen.apiKey !== null) endpoint.apiKey = await secrets.get(chosen.apiKey);
      const names = Object.entries(chosen.headers);
      if (names.length > 0) {
        endpoint.headers = Object.fromEntries(
          await Promise.all(names.map(async ([name, value]) => [name, await secrets.get(value)])),
        );
      }
      return model.reasoningEffort === null ? { endpoint } : { endpoint, reasoningEffort: model.reasoningEffort };
    },
  };
}
