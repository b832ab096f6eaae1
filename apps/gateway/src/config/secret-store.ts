import type { Bucket } from '@rookery/bus';
import { AppError } from '@rookery/protocol';
import { createVault, formatReference, parseReference, type Redactor, type Vault } from '@rookery/secrets';

export interface SecretStoreOptions {
  bucket: Bucket;
  /** Name of the bucket, which seals every value to it. */
  name: string;
  /** Derived key of the bucket; without it nothing can be stored. */
  key: Uint8Array | undefined;
  redactor: Redactor;
  env: NodeJS.ProcessEnv;
}

/** Secrets that the gateway puts away and never gives back; each value it sees is protected from then on. */
export class SecretStore {
  readonly #vault: Vault | null;
  readonly #redactor: Redactor;
  readonly #env: NodeJS.ProcessEnv;

  constructor(options: SecretStoreOptions) {
    const { bucket, name, key, redactor, env } = options;
    this.#env = env;
    this.#vault = key === undefined ? null : createVault(bucket, name, key);
    this.#redactor = redactor;
  }

  /** Stores a value and gives the reference to it; `env("NAME")` stays as it is. VAULT_LOCKED without a key. */
  async put(item: string, field: string, value: string): Promise<string> {
    const reference = parseReference(value);
    if (reference?.kind === 'vault') throw new AppError('INVALID_PARAMS', { details: { issue: 'vault_reference' } });
    if (reference !== undefined) return formatReference(reference);
    if (this.#vault === null) throw new AppError('VAULT_LOCKED');
    this.#redactor.add(value);
    await this.#vault.put(item, field, value);
    return formatReference({ kind: 'vault', item, field });
  }

  /** Forgets fields of an item that the configuration no longer names; what was known stays protected. */
  async keepOnly(item: string, references: readonly string[]): Promise<void> {
    if (this.#vault === null) return;
    for (const field of await this.#vault.fields(item)) {
      if (!references.includes(formatReference({ kind: 'vault', item, field }))) await this.#vault.remove(item, field);
    }
  }

  /** Protects the value behind a reference; nothing where it cannot be opened. */
  async protect(reference: string): Promise<void> {
    const parsed = parseReference(reference);
    const value =
      parsed?.kind === 'vault'
        ? await this.#vault?.get(parsed.item, parsed.field)
        : parsed?.kind === 'env'
          ? this.#env[parsed.name]
          : undefined;
    if (value) this.#redactor.add(value);
  }
}
