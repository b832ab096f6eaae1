import { AppError, type ConfigSection, type ConfigValue, configDefaults, configSections } from '@rookery/protocol';
import { openBucket } from './bucket.ts';
import type { Bus } from './connection.ts';

/** The configuration as it is now: every saved section is live in every process. */
export interface ConfigView {
  get<S extends ConfigSection>(section: S): ConfigValue<S>;
  /** Revision of a section; 0 where nothing was saved. */
  revision(section: ConfigSection): number;
  /** Saves a section; CONFIG_CONFLICT where it changed meanwhile, CONFIG_INVALID where it fails its schema. */
  save<S extends ConfigSection>(section: S, value: ConfigValue<S>, expectedRevision: number): Promise<number>;
  onChange(callback: (section: ConfigSection) => void): () => void;
  /** Sections whose saved value this program could not read; their last good value stays in force. */
  invalid(): ConfigSection[];
  stop(): void;
}

const isSection = (key: string): key is ConfigSection => Object.hasOwn(configSections, key);

/** Opens and watches the configuration. */
export async function openConfig(bus: Bus): Promise<ConfigView> {
  const bucket = await openBucket(bus, 'config');
  const values = new Map<ConfigSection, { value: unknown; revision: number }>();
  const broken = new Set<ConfigSection>();
  const callbacks = new Set<(section: ConfigSection) => void>();

  const accept = (key: string, raw: Uint8Array | null, revision: number): void => {
    if (!isSection(key) || revision <= (values.get(key)?.revision ?? 0)) return;
    let value: unknown = configDefaults[key];
    if (raw !== null) {
      try {
        value = configSections[key].parse(JSON.parse(new TextDecoder().decode(raw)));
        broken.delete(key);
      } catch {
        broken.add(key);
        return;
      }
    }
    values.set(key, { value, revision });
    for (const callback of callbacks) callback(key);
  };

  const watch = await bucket.watch(accept);
  return {
    get: <S extends ConfigSection>(section: S) =>
      (values.get(section)?.value ?? configDefaults[section]) as ConfigValue<S>,
    revision: (section) => values.get(section)?.revision ?? 0,
    async save(section, value, expectedRevision) {
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
    invalid: () => [...broken],
    stop: () => watch.stop(),
  };
}
