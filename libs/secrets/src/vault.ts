import { AppError } from '@rookery/protocol';
import { open, seal } from './seal.ts';

/** The key-value bucket below a vault (history 1); a Bucket of @rookery/bus is one. */
export interface VaultStore {
  /** What is stored with its store revision, null where the key has nothing. */
  get(key: string): Promise<{ value: Uint8Array; revision: number } | null>;
  /** Stores where the key's newest revision is `expectedRevision` (0 = nothing yet), else throws CONFIG_CONFLICT. */
  put(key: string, value: string, expectedRevision?: number): Promise<number>;
}

/** Secret values by item and field, readable only with the key of the bucket. */
export interface Vault {
  /** Stores a value; throws CONFIG_INVALID for a bad name or value, CONFIG_CONFLICT when others keep writing the item. */
  put(item: string, field: string, value: string): Promise<void>;
  /** The value, undefined where there is none; throws VAULT_LOCKED where it cannot be opened. */
  get(item: string, field: string): Promise<string | undefined>;
  /** Names of the fields that have a value, sorted. Needs no key. */
  fields(item: string): Promise<string[]>;
  /** Forgets a field, or the whole item; the store keeps only the item's counter. Harmless where there is none. */
  remove(item: string, field?: string): Promise<void>;
}

interface Item {
  v: 1;
  /** Counts the changes of this item for ever, so that no sealed value fits two moments. */
  revision: number;
  fields: Record<string, { revision: number; sealed: string }>;
}

const attempts = 5;
const maxValueChars = 65_536;
const namePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** True where a text can name an item or a field: 1 to 200 printable ASCII characters, no space, quote or backslash. */
export function isVaultName(name: string): boolean {
  return namePattern.test(name);
}

/** The store's key of an item: what a key may not hold (also dots) becomes =XX. */
function storeKey(item: string): string {
  return item.replace(
    /[^A-Za-z0-9_-]/g,
    (char) => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** A vault over one bucket; `key` is that of `deriveKey`. */
export function createVault(store: VaultStore, bucket: string, key: Uint8Array): Vault {
  async function load(item: string): Promise<{ item: Item; revision: number }> {
    if (!isVaultName(item)) throw invalid('item');
    const stored = await store.get(storeKey(item));
    if (!stored) return { item: { v: 1, revision: 0, fields: {} }, revision: 0 };
    return { item: parseItem(new TextDecoder().decode(stored.value), bucket, item), revision: stored.revision };
  }

  async function change(name: string, edit: (item: Item) => boolean): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { item, revision } = await load(name);
      item.revision++;
      if (!edit(item)) return;
      try {
        await store.put(storeKey(name), JSON.stringify(item), revision);
        return;
      } catch (error) {
        // Another field of the item was written meanwhile: read it and try again.
        if (!(error instanceof AppError && error.code === 'CONFIG_CONFLICT') || attempt >= attempts) throw error;
      }
    }
  }

  return {
    async put(item, field, value) {
      if (!isVaultName(field)) throw invalid('field');
      if (value === '' || value.length > maxValueChars) throw invalid('value');
      await change(item, (record) => {
        const { revision } = record;
        const sealed = seal(key, { bucket, item, field, revision }, value);
        record.fields = { ...record.fields, [field]: { revision, sealed } };
        return true;
      });
    },
    async get(item, field) {
      const { fields } = (await load(item)).item;
      const stored = Object.hasOwn(fields, field) ? fields[field] : undefined;
      return stored && open(key, { bucket, item, field, revision: stored.revision }, stored.sealed);
    },
    async fields(item) {
      return Object.keys((await load(item)).item.fields).sort();
    },
    async remove(item, field) {
      await change(item, (record) => {
        const had = field === undefined ? Object.keys(record.fields).length > 0 : Object.hasOwn(record.fields, field);
        if (field === undefined) record.fields = {};
        else delete record.fields[field];
        return had;
      });
    },
  };
}

function parseItem(text: string, bucket: string, name: string): Item {
  try {
    const item = JSON.parse(text) as Partial<Item>;
    const fields = item.fields;
    if (item.v === 1 && Number.isSafeInteger(item.revision) && typeof fields === 'object' && fields !== null) {
      return item as Item;
    }
  } catch {
    // Reported below without the text.
  }
  throw new AppError('VAULT_LOCKED', { details: { bucket, item: name, why: 'format' } });
}

function invalid(what: 'item' | 'field' | 'value'): AppError {
  return new AppError('CONFIG_INVALID', { message: `The ${what} of a secret is not allowed.`, details: { what } });
}
