import { type ConfigValue, isDemoOffered, limits, type ModelConfig, type ProviderConfig } from '@rookery/protocol';
import { DEEPSEEK, DEMO } from './presets.ts';

export type Health = 'unknown' | 'ready' | 'error';

export interface ProviderView {
  id: string;
  displayName: string;
  origin: 'builtin' | 'custom';
  configured: boolean;
  credentialConfigured: boolean;
  health: Health;
}

export interface ModelView {
  providerId: string;
  id: string;
  displayName: string;
  enabled: boolean;
  contextWindow: number;
  reasoningEffort: ModelConfig['reasoningEffort'];
  reasoningEfforts: ModelConfig['reasoningEfforts'];
}

export interface CatalogFacts {
  config: ConfigValue<'providers'>;
  /** True where the scripted provider runs here. */
  demoRuns: boolean;
  healthOf: (providerId: string) => Health;
}

export function providerView(id: string, config: ProviderConfig, health: Health): ProviderView {
  return {
    id,
    displayName: config.displayName,
    origin: config.origin,
    configured: true,
    credentialConfigured: config.apiKey !== null,
    health,
  };
}

/** DeepSeek as it is listed while it has no key. */
export const unconfiguredDeepseek: ProviderView = {
  id: DEEPSEEK.id,
  displayName: DEEPSEEK.displayName,
  origin: 'builtin',
  configured: false,
  credentialConfigured: false,
  health: 'unknown',
};

/** All providers: the built-in ones first. */
export function listProviders(facts: CatalogFacts): ProviderView[] {
  const { [DEEPSEEK.id]: deepseek, ...others } = facts.config.providers;
  const first = deepseek ? providerView(DEEPSEEK.id, deepseek, facts.healthOf(DEEPSEEK.id)) : unconfiguredDeepseek;
  const demo: ProviderView = {
    id: DEMO.id,
    displayName: DEMO.displayName,
    origin: 'builtin',
    configured: isDemoOffered(facts.config),
    credentialConfigured: false,
    health: facts.healthOf(DEMO.id),
  };
  const rest = Object.entries(others).map(([id, config]) => providerView(id, config, facts.healthOf(id)));
  return [first, ...(facts.demoRuns ? [demo] : []), ...rest];
}

export function modelView(providerId: string, id: string, model: ModelConfig): ModelView {
  const { displayName, enabled, contextWindow, reasoningEffort, reasoningEfforts } = model;
  return { providerId, id, displayName, enabled, contextWindow, reasoningEffort, reasoningEfforts };
}

/** All models of all providers. */
export function listModels(facts: CatalogFacts): ModelView[] {
  const configured = Object.entries(facts.config.providers).flatMap(([providerId, provider]) =>
    Object.entries(provider.models).map(([id, model]) => modelView(providerId, id, model)),
  );
  if (!facts.demoRuns) return configured;
  const demo: ModelView = {
    providerId: DEMO.id,
    id: DEMO.modelId,
    displayName: DEMO.displayName,
    enabled: isDemoOffered(facts.config),
    contextWindow: limits.contextWindowDefault,
    reasoningEffort: null,
    reasoningEfforts: [],
  };
  return [demo, ...configured];
}
