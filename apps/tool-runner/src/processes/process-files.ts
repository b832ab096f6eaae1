import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSubjectToken, type ProcessRecord } from '@rookery/protocol';

/** What is kept beside the output of a command: enough to find it again after a restart. */
export interface ProcessMeta extends Omit<ProcessRecord, 'stdout' | 'stderr' | 'output' | 'truncated' | 'command'> {
  readonly version: 1;
  readonly runnerId: string;
  readonly world: string;
  readonly agentId: string;
  readonly branchId: string;
  readonly turnId: string;
  readonly command: string;
  /** When the process began, in milliseconds of a clock that only this boot of the machine has; null if not known. */
  readonly startMark: number | null;
  readonly bootId: string;
  /** Bytes that were dropped from the middle of the output. */
  readonly omittedBytes: number;
}

/** How a command ended, as its shell has left it behind. */
export interface RecordedEnd {
  /** Exit status as a shell tells it: 128 + n where signal n ended the command. */
  readonly status: number;
  /** ISO time. */
  readonly at: string;
}

/**
 * The folder `processes`: `<threadId>/<processId>.log` holds the output, `.json` beside it what is known, `.exit` what
 * its shell has written when the command had ended.
 */
export class ProcessFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Makes the folder of a thread and gives the paths of a command's output and of its end. */
  prepare(threadId: string, processId: string): { log: string; exit: string } {
    mkdirSync(this.#folder(threadId), { recursive: true, mode: 0o700 });
    return { log: this.logPath(threadId, processId), exit: this.#exitPath(threadId, processId) };
  }

  /** How a command ended by what its shell has written, or null; a half written status counts for nothing. */
  recordedEnd(threadId: string, processId: string): RecordedEnd | null {
    const path = this.#exitPath(threadId, processId);
    try {
      const status = /^(\d{1,3})\n$/.exec(readFileSync(path, 'utf8'))?.[1];
      return status === undefined ? null : { status: Number(status), at: statSync(path).mtime.toISOString() };
    } catch {
      return null;
    }
  }

  /** Path of a command's output. */
  logPath(threadId: string, processId: string): string {
    return join(this.#folder(threadId), `${segment(processId)}.log`);
  }

  /** Replaces what is known of a command; a reader sees the old or the new. */
  save(meta: ProcessMeta): void {
    mkdirSync(this.#folder(meta.threadId), { recursive: true, mode: 0o700 });
    const path = this.#metaPath(meta.threadId, meta.processId);
    writeFileSync(`${path}.tmp`, JSON.stringify(meta), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }

  /** What is known of a command of a thread, or null. */
  load(threadId: string, processId: string): ProcessMeta | null {
    if (!isSubjectToken(threadId) || !isSubjectToken(processId)) return null;
    try {
      const meta = JSON.parse(readFileSync(this.#metaPath(threadId, processId), 'utf8')) as ProcessMeta;
      const fits = meta.version === 1 && meta.threadId === threadId && meta.processId === processId;
      return fits ? meta : null;
    } catch {
      return null;
    }
  }

  /** Every command that has left something here. */
  all(): ProcessMeta[] {
    const metas: ProcessMeta[] = [];
    for (const threadId of namesIn(this.#root).filter(isSubjectToken)) {
      for (const name of namesIn(this.#folder(threadId))) {
        const meta = name.endsWith('.json') ? this.load(threadId, name.slice(0, -'.json'.length)) : null;
        if (meta !== null) metas.push(meta);
      }
    }
    return metas;
  }

  #folder(threadId: string): string {
    return join(this.#root, segment(threadId));
  }

  #exitPath(threadId: string, processId: string): string {
    return join(this.#folder(threadId), `${segment(processId)}.exit`);
  }

  #metaPath(threadId: string, processId: string): string {
    return join(this.#folder(threadId), `${segment(processId)}.json`);
  }
}

/** An id becomes part of a path only if it can lead nowhere else. */
function segment(id: string): string {
  if (!isSubjectToken(id)) throw new TypeError('an id cannot be a part of a path');
  return id;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
