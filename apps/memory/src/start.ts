import { join } from 'node:path';
import { connectBus, serveCommands, startLiveness, waitProvisioned } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { memoryProjection, memorySourcesProjection } from '@rookery/kernel';
import { JOURNAL, MEMORY, toAppError } from '@rookery/protocol';
import { openReadModel } from '@rookery/read-model';
import { logError, onReadModelState, projectorEntry, type RunningService, type ServiceConfig } from '@rookery/service';
import { memoryCommands } from './commands.ts';
import { protectedValues } from './protected-values.ts';
import { memoryQueries } from './serve-queries.ts';
import { openSources } from './sources.ts';

/** Starts the memory service: memories are decided, listed and read here. */
export async function start(config: ServiceConfig): Promise<RunningService> {
  const { service, instance, folder, timings, log } = config;
  const connection = { url: config.natsUrl, user: service, seed: config.nkeySeed, name: `${service} ${instance}` };
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.reverse().splice(0)) {
      await close().catch((error: unknown) => logError(log, 'a part did not stop in order', toAppError(error)));
    }
  };
  const open = (dir: string, file: string, stream: string, projection: typeof memoryProjection) =>
    openReadModel<unknown>({
      dir,
      file,
      stream,
      projection,
      connection,
      timings,
      workerEntry: projectorEntry(),
      onState: onReadModelState(log, file),
    });

  try {
    const bus = await connectBus({
      ...connection,
      publishTimeoutMs: timings.publishTimeoutMs,
      signal: config.stopping,
      onPermissionViolation: (subject) => log.error({ subject }, 'NATS refused a subject'),
    });
    closers.push(() => bus.drain());
    const { homeId } = await waitProvisioned(bus, [JOURNAL, MEMORY], {
      signal: config.stopping,
      onWaiting: (error) => logError(log, 'the journal is not there yet', error),
    });
    const model = await open(folder, 'memory.db', MEMORY, memoryProjection);
    closers.push(() => model.stop());
    const sourcesFolder = join(folder, 'sources');
    const conversation = openJournal(bus, { timings });
    const sources = openSources({
      folder: sourcesFolder,
      open: () => open(sourcesFolder, 'sources.db', JOURNAL, memorySourcesProjection),
      lastSeq: async () => (await conversation.info()).lastSeq,
      waitMs: timings.conflictWaitMs,
    });
    closers.push(() => sources.stop());
    const liveness = await startLiveness(bus, { service, instance, timings, about: { version: config.version } });
    closers.push(() => liveness.stop());

    const journal = openJournal(bus, { stream: MEMORY, timings });
    const { conflictWaitMs } = timings;
    const commands = memoryCommands({
      homeId,
      instance,
      journal,
      model,
      sources,
      secrets: protectedValues(config.home, [config.nkeySeed]),
      conflictWaitMs,
      now: () => new Date(),
    });
    const queries = memoryQueries({ journal, model, sources, levelWaitMs: timings.ambiguousDeadlineMs });
    const server = await serveCommands(
      bus,
      {
        service: 'memory',
        instance,
        version: config.version,
        onError: (method, error) => logError(log.child({ method }), 'a command failed', error),
      },
      { ...commands, ...queries },
    );
    closers.push(() => server.stop());
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
