import {
  AppError,
  type ConfigValue,
  limits,
  type ModelConfig,
  type ProviderConfig,
  type RpcParams,
} from '@rookery/protocol';
import { defaultContextWindow } from '@rookery/provider';
import type { Edit } from '../config/section-writer.ts';
import { DEEPSEEK } from './presets.ts';

/** Changes of the section `providers`, as functions of what is there. */

type Providers = ConfigValue<'providers'>;
type ModelParams = RpcParams<'provider.configure'>['models'][number];
export type ProviderEdit = (value: Providers) => Edit<'providers'>;

const invalid = (path: string, issue: string): AppError => new AppError('INVALID_PARAMS', { details: { path, issue } });

/** Headers that the client sets itself, or that would say another thing than the connection does. */
const CLIENT_HEADERS = new Set(['accept', 'connection', 'content-length', 'content-type', 'host', 'transfer-encoding']);

/** Refuses headers twice (they ignore case), those of the client, and a second authorization beside the key. */
export function checkHeaders(names: readonly string[], hasKey: boolean): void {
  const seen = new Set<string>();
  for (const name of names.map((text) => text.toLowerCase())) {
    if (seen.has(name)) throw invalid(`headers.${name}`, 'twice');
    if (CLIENT_HEADERS.has(name) || (hasKey && name === 'authorization'))
      throw invalid(`headers.${name}`, 'not_allowed');
    seen.add(name);
  }
}

function modelConfig(model: ModelParams, known: ModelConfig | undefined): ModelConfig {
  const reasoningEfforts = model.reasoningEfforts ?? known?.reasoningEfforts ?? [];
  const wanted = model.reasoningEffort === undefined ? known?.reasoningEffort : model.reasoningEffort;
  const reasoningEffort = wanted ?? null;
  if (reasoningEffort !== null && !reasoningEfforts.includes(reasoningEffort)) {
    if (model.reasoningEffort !== undefined) throw invalid('models.reasoningEffort', 'not_in_list');
    return { ...modelConfig({ ...model, reasoningEffort: null }, known) };
  }
  return {
    displayName: model.displayName ?? known?.displayName ?? model.id,
    enabled: known?.enabled ?? true,
    supportsTools: model.supportsTools ?? known?.supportsTools ?? true,
    contextWindow: Math.min(
      model.contextWindow ?? known?.contextWindow ?? defaultContextWindow(model.id),
      limits.contextWindowMax,
    ),
    reasoningEfforts,
    reasoningEffort,
  };
}

/** Puts a provider with its models in place; a model that was there keeps what is not given anew. */
export function setProvider(
  id: string,
  base: Omit<ProviderConfig, 'models'>,
  models: readonly ModelParams[],
): ProviderEdit {
  if (new Set(models.map((model) => model.id)).size !== models.length) throw invalid('models', 'twice');
  return ({ providers }) => {
    const known = providers[id]?.models ?? {};
    const entries = models.map((model) => [model.id, modelConfig(model, known[model.id])]);
    const provider = { ...base, models: Object.fromEntries(entries) as ProviderConfig['models'] };
    return { value: { providers: { ...providers, [id]: provider } }, keys: [`providers.${id}`] };
  };
}

export function removeProvider(id: string): ProviderEdit {
  return ({ providers }) => {
    const { [id]: _gone, ...others } = providers;
    return { value: { providers: others }, keys: [`providers.${id}`] };
  };
}

/** Changes one model; PROVIDER_NOT_FOUND or MODEL_NOT_CONFIGURED where it is not there. */
export function editModel(
  providerId: string,
  modelId: string,
  change: (model: ModelConfig) => ModelConfig,
): ProviderEdit {
  return ({ providers }) => {
    const provider = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined;
    if (provider === undefined) throw new AppError('PROVIDER_NOT_FOUND', { details: { providerId } });
    const model = Object.hasOwn(provider.models, modelId) ? provider.models[modelId] : undefined;
    if (model === undefined) throw new AppError('MODEL_NOT_CONFIGURED', { details: { providerId, modelId } });
    const changed = { ...provider, models: { ...provider.models, [modelId]: change(model) } };
    return {
      value: { providers: { ...providers, [providerId]: changed } },
      keys: [`providers.${providerId}.models.${modelId}`],
    };
  };
}

/** New limits of a model; a preferred effort that the list does not have is refused, one left over is dropped. */
export function withLimits(model: ModelConfig, params: RpcParams<'model.set_limits'>): ModelConfig {
  const reasoningEfforts = params.reasoningEfforts ?? model.reasoningEfforts;
  const wanted = params.reasoningEffort === undefined ? model.reasoningEffort : params.reasoningEffort;
  const fits = wanted === null || reasoningEfforts.includes(wanted);
  if (!fits && params.reasoningEffort !== undefined) throw invalid('reasoningEffort', 'not_in_list');
  return { ...model, contextWindow: params.contextWindow, reasoningEfforts, reasoningEffort: fits ? wanted : null };
}

export const isDeepseek = (id: string): boolean => id === DEEPSEEK.id;
