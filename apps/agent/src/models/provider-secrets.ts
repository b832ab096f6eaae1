import { type Bus, type ConfigView, openBucket } from '@rookery/bus';
import { AppError, type ProviderConfig, toAppError } from '@rookery/protocol';
import { createVault, parseReference, type Redactor } from '@rookery/secrets';
import { logError, type ServiceConfig } from '@rookery/service';

/** How long a value is taken for the current one without asking again, milliseconds. */
const FRESH_MS = 60_000;

/** The secrets that the providers' configuration names, as they are now. */
export interface ProviderSecrets {
  /**
   * The value behind a reference; while the vault cannot be asked, the last one known. CONFIG_INVALID where there is
   * none, VAULT_LOCKED where it cannot be opened, else what the question met.
   */
  get(reference: string): Promise<string>;
  stop(): void;
}

const referencesOf = ({ apiKey, headers }: ProviderConfig): string[] => [
  ...(apiKey === null ? [] : [apiKey]),
  ...Object.values(headers),
];

/**
 * Opens the vault of the providers. Every secret that the configuration names is known, and so kept out of the journal,
 * before the first run starts and as soon as it is named.
 */
export async function openProviderSecrets(
  bus: Bus,
  settings: ConfigView,
  config: Pick<ServiceConfig, 'vaultKeys' | 'env' | 'log'>,
  redactor: Redactor,
): Promise<ProviderSecrets> {
  const name = 'vault_provider';
  const key = config.vaultKeys[name];
  const vault = key === undefined ? null : createVault(await openBucket(bus, name), name, key);
  const known = new Map<string, { value: string; at: number }>();

  const ask = async (reference: string): Promise<string> => {
    const parsed = parseReference(reference);
    if (parsed === undefined)
      throw new AppError('CONFIG_INVALID', { message: 'a provider names a secret in a wrong way' });
    if (vault === null && parsed.kind === 'vault') throw new AppError('VAULT_LOCKED');
    const value = parsed.kind === 'env' ? config.env[parsed.name] : await vault?.get(parsed.item, parsed.field);
    if (value === undefined)
      throw new AppError('CONFIG_INVALID', { message: 'a secret of the provider is missing; enter it again' });
    redactor.add(value);
    return value;
  };

  const load = async (reference: string): Promise<string> => {
    const at = performance.now();
    const value = await ask(reference);
    known.set(reference, { value, at });
    return value;
  };

  const loadAll = async (): Promise<void> => {
    for (const provider of Object.values(settings.get('providers').providers)) {
      for (const reference of referencesOf(provider)) {
        await load(reference).catch((error: unknown) =>
          logError(config.log, 'a secret of a provider cannot be read', toAppError(error)),
        );
      }
    }
  };

  const unwatch = settings.onChange((section) => {
    if (section !== 'providers') return;
    // A new value may stand behind the same reference: what is known counts only while the vault cannot be asked.
    for (const each of known.values()) each.at = Number.NEGATIVE_INFINITY;
    void loadAll();
  });
  await loadAll();

  return {
    async get(reference) {
      const last = known.get(reference);
      if (last !== undefined && performance.now() - last.at < FRESH_MS) return last.value;
      try {
        return await load(reference);
      } catch (error) {
        if (last === undefined || toAppError(error).retry === 'never') throw error;
        return last.value;
      }
    },
    stop: unwatch,
  };
}
