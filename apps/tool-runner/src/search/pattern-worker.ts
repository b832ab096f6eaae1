import { Worker } from 'node:worker_threads';
import { MAX_WHOLE_FILE_BYTES } from '../files/read-text.ts';
import { ToolFailure, throwIfCancelled } from '../tool-call.ts';
import { type Hit, MAX_KEPT } from './ripgrep-output.ts';

/** What is kept of a line: more than is shown of it. */
const MAX_TEXT = 8192;

/** Longest time that a pattern may spend on one file, or on one list of texts, in milliseconds. */
const MATCH_MS = 1000;

/**
 * The program of the thread, as text, since beside a bundle lies no file of it. A pattern comes from a model and this
 * engine backtracks, so matching and reading stay away from the thread that answers. Only a script of vm can be stopped
 * while it backtracks; pattern and texts go in as data.
 */
const PROGRAM = `
const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const vm = require('node:vm');
const { parentPort, workerData } = require('node:worker_threads');
const { source, flags, matchMs, maxFileBytes, maxText, maxKept } = workerData;
const scope = { texts: [], source, flags };
const context = vm.createContext(scope);
vm.runInContext('const expression = new RegExp(source, flags)', context);
const script = new vm.Script('texts.flatMap((text, index) => (expression.test(text) ? [index] : []))');

function matching(texts) {
  scope.texts = texts;
  return Array.from(script.runInContext(context, { timeout: matchMs }));
}

function linesOf(path) {
  try {
    if (statSync(path).size > maxFileBytes) return [];
    const lines = new TextDecoder().decode(readFileSync(path)).split('\\n');
    if (lines.at(-1) === '') lines.pop();
    return lines;
  } catch {
    return [];
  }
}

function search({ root, files, limit }) {
  const hits = [];
  let kept = 0;
  for (const file of files) {
    const lines = linesOf(join(root, file));
    for (const index of matching(lines).slice(0, limit)) {
      const text = lines[index].slice(0, maxText).replace(/\\r$/, '');
      kept += text.length;
      hits.push({ file, line: index + 1, text });
    }
    if (kept > maxKept) return { hits, complete: false };
  }
  return { hits, complete: true };
}

parentPort.on('message', (task) => {
  try {
    parentPort.postMessage({ result: task.texts ? matching(task.texts) : search(task) });
  } catch (error) {
    parentPort.postMessage({ failed: error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? 'slow' : 'broken' });
  }
});
`;

interface Answer {
  readonly result?: unknown;
  readonly failed?: 'slow' | 'broken';
}

/** One regular expression of JavaScript, matched in a thread of its own. Close it after the last question. */
export class PatternWorker {
  readonly #source: string;
  readonly #flags: string;
  #worker: Worker | undefined;

  /** Fails with invalid_pattern where the text is no regular expression. */
  constructor(source: string, flags: string) {
    try {
      new RegExp(source, flags);
    } catch (error) {
      throw new ToolFailure('invalid_pattern', 'The pattern cannot be used: it is no regular expression.', error);
    }
    this.#source = source;
    this.#flags = flags;
  }

  /** The indexes of the texts that match. Fails with invalid_pattern for a pattern that takes too long. */
  matchTexts(texts: readonly string[], signal: AbortSignal): Promise<number[]> {
    return this.#ask({ texts }, signal) as Promise<number[]>;
  }

  /**
   * The matching lines of files of UTF-8 up to 16 MiB, at most `limit` a file; not complete where there are too many to
   * keep. Fails with invalid_pattern for a pattern that takes too long.
   */
  matchLines(
    root: string,
    files: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<{ hits: readonly Hit[]; complete: boolean }> {
    return this.#ask({ root, files, limit }, signal) as Promise<{ hits: readonly Hit[]; complete: boolean }>;
  }

  /** Ends the thread, also in the middle of a match. */
  close(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #ask(task: object, signal: AbortSignal): Promise<unknown> {
    throwIfCancelled(signal);
    this.#worker ??= startThread(this.#source, this.#flags);
    const { result, failed } = await answerOf(this.#worker, task, signal).catch((error: unknown) => {
      // It has ended: the next question gets another one.
      this.close();
      throw error;
    });
    if (failed === 'slow') throw new ToolFailure('invalid_pattern', 'The pattern takes too long to match.');
    if (failed !== undefined) throw new Error('the pattern could not be matched');
    return result;
  }
}

function startThread(source: string, flags: string): Worker {
  const data = {
    source,
    flags,
    matchMs: MATCH_MS,
    maxFileBytes: MAX_WHOLE_FILE_BYTES,
    maxText: MAX_TEXT,
    maxKept: MAX_KEPT,
  };
  const worker = new Worker(PROGRAM, { eval: true, workerData: data, execArgv: [] });
  worker.unref();
  return worker;
}

function answerOf(worker: Worker, task: object, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const over = (then: () => void) => () => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      signal.removeEventListener('abort', onAbort);
      worker.unref();
      then();
    };
    const onMessage = (answer: Answer) => over(() => resolve(answer))();
    const onError = (error: unknown) => over(() => reject(error))();
    const onExit = over(() => reject(new Error('the thread of the pattern ended')));
    const onAbort = over(() => {
      void worker.terminate();
      reject(new ToolFailure('cancelled', 'The call was cancelled.'));
    });
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    signal.addEventListener('abort', onAbort);
    // While it is asked something the process must not end for want of other work.
    worker.ref();
    worker.postMessage(task);
  });
}
