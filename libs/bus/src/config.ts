import { AppError, type ConfigSection, type ConfigValue, configDefaults, configSections } from '@rookery/protocol';
import { openBucket } from './bucket.ts';
import type { Bus } from './connection.ts';

/** The configuration as it is now: every saved section is live in every process. */
export interface ConfigView {
  get<S extends ConfigSection>(section: S): ConfigValue<S>;
  /** Revision of a section as it is saved, readable or not; 0 where nothing was saved. */
  revision(section: ConfigSection): number;
  /**
   * Saves a section; CONFIG_CONFLICT where it changed meanwhile, CONFIG_INVALID where it fails its schema, and where what
   * is saved cannot be read here: an edit of the value in force would silently replace it.
   */
  save<S extends ConfigSection>(section: S, value: ConfigValue<S>, expectedRevision: number): Promise<number>;
  onChange(callback: (section: ConfigSection) => void): () => void;
  /** Sections whose saved value this program cannot read; their last good value stays in force. */
  invalid(): InvalidSection[];
  stop(): void;
}

/** A saved section that does not fit its schema: written by a newer program, or by hand. */
export interface InvalidSection {
  section: ConfigSection;
  revision: number;
  /** Where and why, without a value. */
  issue: string;
}

export interface ConfigOptions {
  /** Called for every saved value that cannot be read, also at the start. */
  onInvalid?(found: InvalidSection): void;
}

const isSection = (key: string): key is ConfigSection => Object.hasOwn(configSections, key);

function readSection(section: ConfigSection, raw: Uint8Array): { value: unknown } | { issue: string } {
  try {
    const checked = configSections[section].safeParse(JSON.parse(new TextDecoder().decode(raw)));
    if (checked.success) return { value: checked.data };
    const [issue] = checked.error.issues;
    return { issue: `${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'invalid'}` };
  } catch {
    return { issue: 'not JSON' };
  }
}

/** Opens and watches the configuration. */
export async function openConfig(bus: Bus, { onInvalid }: ConfigOptions = {}): Promise<ConfigView> {
  const bucket = await openBucket(bus, 'config');
  const values = new Map<ConfigSection, unknown>();
  const revisions = new Map<ConfigSection, number>();
  const broken = new Map<ConfigSection, InvalidSection>();
  const callbacks = new Set<(section: ConfigSection) => void>();
  const revisionOf = (section: ConfigSection) => revisions.get(section) ?? 0;

  const accept = (key: string, raw: Uint8Array | null, revision: number): void => {
    if (!isSection(key) || revision <= revisionOf(key)) return;
    revisions.set(key, revision);
    const read = raw === null ? { value: configDefaults[key] } : readSection(key, raw);
    if ('issue' in read) {
      const found = { section: key, revision, issue: read.issue };
      broken.set(key, found);
      onInvalid?.(found);
      return;
    }
    broken.delete(key);
    values.set(key, read.value);
    for (const callback of callbacks) callback(key);
  };

  const watch = await bucket.watch(accept);
  return {
    get: <S extends ConfigSection>(section: S) => (values.get(section) ?? configDefaults[section]) as ConfigValue<S>,
    revision: revisionOf,
    async save(section, value, expectedRevision) {
      const unreadable = broken.get(section);
      if (unreadable !== undefined) {
        const message = `The saved section "${section}" cannot be read here (${unreadable.issue}). Update this Rookery, or put back or delete what is saved.`;
        throw new AppError('CONFIG_INVALID', { message, details: { ...unreadable } });
      }
      const checked = configSections[section].safeParse(value);
      if (!checked.success) {
        const [issue] = checked.error.issues;
        throw new AppError('CONFIG_INVALID', {
          details: { section, path: issue?.path.join('.'), issue: issue?.message },
        });
      }
      const text = JSON.stringify(checked.data);
      const revision = await bucket.put(section, text, expectedRevision);
      accept(section, new TextEncoder().encode(text), revision);
      return revision;
    },
    onChange(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    invalid: () => [...broken.values()],
    stop: () => watch.stop(),
  };
}
