import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigView } from '@rookery/bus';
import {
  AppError,
  type ConfigValue,
  encodeToken,
  type ProviderConfig,
  type RpcParams,
  reservedProviderIds,
} from '@rookery/protocol';
import { Redactor } from '@rookery/secrets';
import type { SecretStore } from '../config/secret-store.ts';
import type { Edit, SectionWriter } from '../config/section-writer.ts';
import {
  type CatalogFacts,
  listModels,
  listProviders,
  modelView,
  providerView,
  unconfiguredDeepseek,
} from './catalog.ts';
import {
  checkHeaders,
  editModel,
  isDeepseek,
  type ProviderEdit,
  removeProvider,
  setProvider,
  withLimits,
} from './edits.ts';
import type { ProviderHealth } from './health.ts';
import type { ImportedProvider } from './import-yaml.ts';
import { DEEPSEEK, DEMO } from './presets.ts';

export interface ProviderPorts {
  home: string;
  settings: ConfigView;
  writer: SectionWriter;
  secrets: SecretStore;
  health: ProviderHealth;
}

type Configure = RpcParams<'provider.configure'>;

/** Name of a provider in the vault. */
const vaultItem = (id: string): string => `provider.${encodeToken(id)}`;
const headerField = (name: string): string => `header.${encodeToken(name.toLowerCase())}`;

/** The providers and models of this home, over the section `providers` and its vault. */
export class ProviderService {
  readonly #ports: ProviderPorts;

  constructor(ports: ProviderPorts) {
    this.#ports = ports;
  }

  list() {
    return { providers: listProviders(this.#facts()) };
  }

  models() {
    return { models: listModels(this.#facts()) };
  }

  async configure(params: Configure) {
    const id = idOf(params);
    refuseKeyInPublic(params);
    const saved = this.#saved(id);
    const base = await this.#base(id, params, saved);
    const { providers } = await this.#ports.writer.edit('providers', setProvider(id, base, params.models));
    await this.#forgetUnused(id, providers[id]);
    this.#ports.health.forget(id);
    return { provider: providerView(id, { ...base, models: {} }, 'unknown') };
  }

  /** Asks a provider for its models; the key is used once and kept nowhere. */
  async discover(params: RpcParams<'provider.discover_models'>) {
    const baseUrl = params.kind === 'deepseek' ? DEEPSEEK.baseUrl : params.baseUrl;
    const headers = params.kind === 'custom' ? params.headers : undefined;
    checkHeaders(Object.keys(headers ?? {}), Boolean(params.apiKey));
    const { discoverModels } = await import('@rookery/provider');
    const models = await discoverModels({
      baseUrl,
      ...(params.apiKey ? { apiKey: params.apiKey } : {}),
      ...(headers ? { headers } : {}),
    });
    return { models };
  }

  async disconnect(providerId: string) {
    if (!isDeepseek(providerId)) {
      throw new AppError('INVALID_PARAMS', { details: { path: 'providerId', issue: 'not_builtin' } });
    }
    await this.#remove(providerId);
    return { provider: unconfiguredDeepseek };
  }

  async remove(providerId: string) {
    if (isDeepseek(providerId) || providerId === DEMO.id) {
      throw new AppError('INVALID_PARAMS', { details: { path: 'providerId', issue: 'builtin' } });
    }
    return { removed: await this.#remove(providerId), providerId };
  }

  async setEnabled({ providerId, modelId, enabled }: RpcParams<'model.set_enabled'>) {
    const edit = editModel(providerId, modelId, (model) => ({ ...model, enabled }));
    return modelResult(await this.#ports.writer.edit('providers', edit), providerId, modelId);
  }

  async setLimits(params: RpcParams<'model.set_limits'>) {
    const { providerId, modelId } = params;
    const edit = editModel(providerId, modelId, (model) => withLimits(model, params));
    return modelResult(await this.#ports.writer.edit('providers', edit), providerId, modelId);
  }

  /** Takes providers from a file over in one save. */
  async import(list: readonly ImportedProvider[]): Promise<void> {
    const edits: ProviderEdit[] = [];
    for (const { params, disabledModels } of list) {
      const id = idOf(params);
      refuseKeyInPublic(params);
      edits.push(setProvider(id, await this.#base(id, params, undefined), params.models));
      for (const model of disabledModels) edits.push(editModel(id, model, (known) => ({ ...known, enabled: false })));
    }
    await this.#ports.writer.edit('providers', (value) =>
      edits.reduce<Edit<'providers'>>(
        (done, edit) => {
          const next = edit(done.value);
          return { value: next.value, keys: [...done.keys, ...next.keys] };
        },
        { value, keys: [] },
      ),
    );
  }

  /** Protects every secret that the configuration names. */
  async protectAll(): Promise<void> {
    for (const provider of Object.values(this.#ports.settings.get('providers').providers)) {
      for (const reference of referencesOf(provider)) await this.#ports.secrets.protect(reference);
    }
  }

  #facts(): CatalogFacts {
    return {
      config: this.#ports.settings.get('providers'),
      demoRuns: existsSync(join(this.#ports.home, 'run', 'demo.json')),
      healthOf: (id) => this.#ports.health.of(id),
    };
  }

  #saved(id: string): ProviderConfig | undefined {
    const { providers } = this.#ports.settings.get('providers');
    return Object.hasOwn(providers, id) ? providers[id] : undefined;
  }

  async #base(
    id: string,
    params: Configure,
    saved: ProviderConfig | undefined,
  ): Promise<Omit<ProviderConfig, 'models'>> {
    const { secrets } = this.#ports;
    const item = vaultItem(id);
    const keepsKey = params.apiKey === undefined && saved?.apiKey != null;
    const names = Object.keys(params.kind === 'custom' ? (params.headers ?? saved?.headers ?? {}) : {});
    checkHeaders(names, keepsKey || Boolean(params.apiKey));
    const apiKey = keepsKey ? saved.apiKey : params.apiKey ? await secrets.put(item, 'apiKey', params.apiKey) : null;
    if (params.kind === 'deepseek') {
      return { displayName: DEEPSEEK.displayName, origin: 'builtin', baseUrl: DEEPSEEK.baseUrl, apiKey, headers: {} };
    }
    const headers: Record<string, string> = params.headers === undefined ? { ...saved?.headers } : {};
    for (const [name, value] of Object.entries(params.headers ?? {})) {
      if (value !== '') headers[name] = await secrets.put(item, headerField(name), value);
    }
    return { displayName: params.displayName, origin: 'custom', baseUrl: params.baseUrl, apiKey, headers };
  }

  async #remove(id: string): Promise<boolean> {
    const had = this.#saved(id) !== undefined;
    if (had) await this.#ports.writer.edit('providers', removeProvider(id));
    await this.#forgetUnused(id, undefined);
    this.#ports.health.forget(id);
    return had;
  }

  async #forgetUnused(id: string, provider: ProviderConfig | undefined): Promise<void> {
    await this.#ports.secrets.keepOnly(vaultItem(id), provider ? referencesOf(provider) : []);
  }
}

function idOf(params: Configure): string {
  if (params.kind === 'deepseek') return DEEPSEEK.id;
  if (!reservedProviderIds.includes(params.providerId)) return params.providerId;
  throw new AppError('INVALID_PARAMS', { details: { path: 'providerId', issue: 'reserved' } });
}

function referencesOf(provider: ProviderConfig): string[] {
  return [...(provider.apiKey === null ? [] : [provider.apiKey]), ...Object.values(provider.headers)];
}

/** What is listed openly must not hold the key that comes with it. */
function refuseKeyInPublic(params: Configure): void {
  const { apiKey, models } = params;
  const values = [apiKey ?? '', ...Object.values(params.kind === 'custom' ? (params.headers ?? {}) : {})];
  const open = params.kind === 'custom' ? [params.providerId, params.displayName, params.baseUrl] : [];
  if (new Redactor(values).contains([...open, models])) throw new AppError('SECRET_REFUSED');
}

function modelResult({ providers }: ConfigValue<'providers'>, providerId: string, modelId: string) {
  const model = providers[providerId]?.models[modelId];
  if (model === undefined) throw new AppError('MODEL_NOT_CONFIGURED', { details: { providerId, modelId } });
  return { model: modelView(providerId, modelId, model) };
}
