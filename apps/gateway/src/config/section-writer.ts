import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConfigView } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import {
  AppError,
  COMMIT_VERSION,
  type Commit,
  type ConfigSection,
  type ConfigValue,
  commitId,
  commitTime,
  formatSubject,
  writerName,
} from '@rookery/protocol';

export interface SectionWriterPorts {
  settings: ConfigView;
  journal: Pick<Journal, 'append'>;
  /** Stream sequence of the last message on a subject, as far as it is known here. */
  headOf: (subject: string) => number;
  instance: string;
  agentId: () => string;
  /** Time between attempts to put a saved change on record while the journal is away, milliseconds. */
  retryMs: number;
  /** Called once for a change whose record has to wait. */
  onDelay: (error: unknown) => void;
}

export interface Edit<S extends ConfigSection> {
  value: ConfigValue<S>;
  /** Names of what changed, for the journal; never values. */
  keys: string[];
}

const ATTEMPTS = 5;

/** Saves sections of the configuration and puts on record which keys changed. */
export class SectionWriter {
  readonly #ports: SectionWriterPorts;
  readonly #stopped = new AbortController();

  constructor(ports: SectionWriterPorts) {
    this.#ports = ports;
  }

  /**
   * Edits a section and saves it; where somebody else saved meanwhile the edit is made anew on what is there then.
   * CONFIG_CONFLICT after five such, CONFIG_INVALID where the result does not fit. What is saved is in force: where the
   * journal is away its record follows.
   */
  async edit<S extends ConfigSection>(section: S, edit: (value: ConfigValue<S>) => Edit<S>): Promise<ConfigValue<S>> {
    const { settings } = this.#ports;
    for (let attempt = 1; ; attempt += 1) {
      const expected = settings.revision(section);
      const { value, keys } = edit(settings.get(section));
      try {
        const revision = await settings.save(section, value, expected);
        await this.#record(section, keys, revision);
        return value;
      } catch (error) {
        const isConflict = error instanceof AppError && error.code === 'CONFIG_CONFLICT';
        if (!isConflict || attempt >= ATTEMPTS) throw error;
        // The other's value arrives by the watch.
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Gives up what is not on record yet. */
  stop(): void {
    this.#stopped.abort();
  }

  async #record(section: ConfigSection, keys: string[], revision: number): Promise<void> {
    const { journal, headOf, instance, agentId } = this.#ports;
    const subject = formatSubject({ kind: 'config' });
    const cause = randomUUID();
    const commit: Commit = {
      v: COMMIT_VERSION,
      id: commitId(subject, cause, 0),
      cause,
      at: commitTime(new Date(), null),
      by: writerName('gateway', instance),
      agentId: agentId(),
      events: [{ type: 'config.changed', payload: { section, keys, revision } }],
    };
    let expected = headOf(subject);
    const attempt = async (): Promise<void> => {
      for (let count = 1; count <= ATTEMPTS; count += 1) {
        // After a failure it goes on from the same place: an attempt that was stored all the same is found behind it.
        const result = await journal.append({ subject, expected, commit });
        if (result.outcome === 'committed') return;
        // Other gateways write here too; their order among each other does not matter.
        expected = result.lastSeq;
      }
      throw new AppError('JOURNAL_CONFLICT');
    };
    try {
      await attempt();
    } catch (error) {
      this.#ports.onDelay(error);
      void this.#retry(attempt);
    }
  }

  async #retry(attempt: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await pause(this.#ports.retryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        return await attempt();
      } catch {
        // Still away.
      }
    }
  }
}
