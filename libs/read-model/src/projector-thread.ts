import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AppError } from '@rookery/protocol';
import type { FromThread, FromWorker, ProjectorData, ToThread, ToWorker } from './worker-messages.ts';

/**
 * Heap bounds: a page of the journal and its statements fit many times. A small young generation keeps an idle thread
 * small; a replay pays for it with more of the short collections.
 */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 };

export interface ThreadEvents {
  onMessage(message: FromWorker): void;
  /** The thread is gone without being told to stop. */
  onCrash(error: AppError): void;
}

/** One read model's part of a projector thread. */
export interface ProjectorThread {
  post(message: ToWorker): void;
  /** Ends the projector; its file is closed then. */
  stop(): Promise<void>;
}

interface SharedThread {
  worker: Worker;
  models: Map<number, { events: ThreadEvents; stopped(): void }>;
}

/** By entry: a thread costs 25 MiB, so the read models of a process share one. */
const threads = new Map<string, SharedThread>();
let lastModel = 0;

/**
 * What a thread runs. A bundle runs as it is; TypeScript of the source tree needs tsx, which a thread has to load for
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

function startThread(entry: URL): SharedThread {
  const { program, eval: isText } = programOf(entry);
  const worker = new Worker(program, {
    eval: isText,
    // What the main program was started with is not for its threads.
    execArgv: [],
    resourceLimits: LIMITS,
    name: 'projector',
  });
  const thread: SharedThread = { worker, models: new Map() };
  let failed: unknown = null;
  worker.on('message', ({ model, message }: FromThread) => {
    const each = thread.models.get(model);
    if (message.type === 'stopped') each?.stopped();
    else each?.events.onMessage(message);
  });
  worker.on('error', (error) => {
    failed = error;
  });
  worker.once('exit', (code) => {
    if (threads.get(entry.href) === thread) threads.delete(entry.href);
    for (const { events, stopped } of thread.models.values()) {
      const message = 'The projector of the read model has ended unexpectedly.';
      events.onCrash(new AppError('INTERNAL', { message, details: { exitCode: code }, cause: failed }));
      stopped();
    }
  });
  return thread;
}

/** Starts a projector in the thread of its entry, which lives as long as one of its projectors. */
export function startProjector(entry: URL | string, data: ProjectorData, events: ThreadEvents): ProjectorThread {
  const url = typeof entry === 'string' ? pathToFileURL(entry) : entry;
  const thread = threads.get(url.href) ?? startThread(url);
  threads.set(url.href, thread);
  lastModel += 1;
  const model = lastModel;
  const post = (message: ToWorker) => thread.worker.postMessage({ model, message } satisfies ToThread);
  let stopping = false;
  const stopped = new Promise<void>((resolve) => {
    const whileWanted: ThreadEvents = {
      onMessage: (message) => {
        if (!stopping) events.onMessage(message);
      },
      onCrash: (error) => {
        if (!stopping) events.onCrash(error);
      },
    };
    thread.models.set(model, { events: whileWanted, stopped: resolve });
  });
  post({ type: 'open', data });
  return {
    post,
    async stop() {
      stopping = true;
      post({ type: 'stop' });
      // Without a deadline: every wait of a projector ends, and a thread that is ended inside SQLite takes the process
      // along (seen), and with it the other read models of the thread.
      await stopped;
      thread.models.delete(model);
      if (thread.models.size > 0) return;
      if (threads.get(url.href) === thread) threads.delete(url.href);
      await thread.worker.terminate();
    },
  };
}
