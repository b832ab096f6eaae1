import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AppError } from '@rookery/protocol';
import type { FromWorker, ProjectorData, ToWorker } from './worker-messages.ts';

/** Heap bounds of a projector: a page of the journal and its statements fit many times. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
const STOP_MS = 5000;

export interface ThreadEvents {
  onMessage(message: FromWorker): void;
  /** The thread is gone without being told to stop. */
  onCrash(error: AppError): void;
}

export interface ProjectorThread {
  post(message: ToWorker): void;
  /** Ends the thread; its file is closed then. */
  stop(): Promise<void>;
}

/**
 * What the thread runs. A bundle runs as it is; TypeScript of the source tree needs tsx, which a thread has to load for
 * itself: `--import` reaches the main thread only.
 */
function programOf(entry: URL): { program: string | URL; eval: boolean } {
  if (!entry.pathname.endsWith('.ts')) return { program: entry, eval: false };
  // Resolution by `require` names the CommonJS half, which does not find its own hooks.
  const loader = pathToFileURL(
    createRequire(entry)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs'),
  ).href;
  const load = (url: string) => `import(${JSON.stringify(url)})`;
  const program = `${load(loader)}.then(({ register }) => { register(); return ${load(entry.href)}; });`;
  return { program, eval: true };
}

/** Starts the thread of a projector. */
export function startProjectorThread(entry: URL | string, data: ProjectorData, events: ThreadEvents): ProjectorThread {
  const url = typeof entry === 'string' ? pathToFileURL(entry) : entry;
  const { program, eval: isText } = programOf(url);
  const worker = new Worker(program, {
    eval: isText,
    workerData: data,
    // What the main program was started with is not for its threads.
    execArgv: [],
    resourceLimits: LIMITS,
    name: data.connection.name,
  });
  let stopping = false;
  let failed: unknown = null;
  worker.on('message', (message: FromWorker) => events.onMessage(message));
  worker.on('error', (error) => {
    failed = error;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      resolve();
      if (stopping) return;
      const message = 'The projector of the read model has ended unexpectedly.';
      events.onCrash(new AppError('INTERNAL', { message, details: { exitCode: code }, cause: failed }));
    });
  });
  return {
    post: (message) => worker.postMessage(message),
    async stop() {
      stopping = true;
      worker.postMessage({ type: 'stop' } satisfies ToWorker);
      const deadline = setTimeout(() => void worker.terminate(), STOP_MS);
      await exited;
      clearTimeout(deadline);
    },
  };
}
