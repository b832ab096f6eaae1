import { connectBus, openBlobs, openConfig, startLiveness, waitProvisioned } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { conversationProjection } from '@rookery/kernel';
import { JOURNAL } from '@rookery/protocol';
import { applyingError, openReadModel } from '@rookery/read-model';
import {
  agentWorkers,
  logError,
  onReadModelState,
  projectorEntry,
  type RunningService,
  type ServiceConfig,
  storageLowBytes,
  watchStorage,
} from '@rookery/service';
import type { AgentDeps } from './deps.ts';
import { startInstance } from './instance.ts';
import { openModels } from './models/models.ts';
import { createTools } from './tools.ts';

/** Starts one instance of the agent service: commands, scheduler and loop. */
export async function start(config: ServiceConfig): Promise<RunningService> {
  const { log, instance, timings, natsUrl: url, nkeySeed: seed } = config;
  const workers = agentWorkers(config.env);
  const lowBytes = storageLowBytes(config.env);
  const bus = await connectBus({
    url,
    seed,
    user: 'agent',
    name: `agent ${instance}`,
    publishTimeoutMs: timings.publishTimeoutMs,
    signal: config.stopping,
    onPermissionViolation: (subject) => log.error({ subject }, 'NATS refused a subject'),
  });
  const { homeId } = await waitProvisioned(bus, [JOURNAL], {
    signal: config.stopping,
    onWaiting: (error) => logError(log, 'the journal is not there yet', error),
  });
  const model = await openReadModel<unknown>({
    dir: config.folder,
    file: 'agent.db',
    projection: conversationProjection,
    workerEntry: projectorEntry(),
    connection: { url, user: 'agent', seed, name: `agent projector ${instance}` },
    timings,
    onState: onReadModelState(log, 'agent.db'),
  });
  await model.level();
  // Everything is decided on the view; once that has ended, nothing is true of the journal any more.
  const journal = openJournal(bus, { timings, guard: () => applyingError(model) });
  const settings = await openConfig(bus, {
    onInvalid: (found) => log.error({ code: 'CONFIG_INVALID', ...found }, 'a saved section cannot be read'),
  });
  const liveness = await startLiveness(bus, {
    service: 'agent',
    instance,
    timings,
    about: { version: config.version, pid: process.pid },
  });
  const deps: AgentDeps = {
    config,
    homeId,
    instance,
    timings,
    log,
    bus,
    journal,
    model,
    settings,
    liveness,
    blobs: openBlobs(bus),
    models: await openModels(bus, settings, config),
    tools: createTools(bus, config.env.ROOKERY_RUNNER || 'main', timings),
    storage: await watchStorage({
      home: config.home,
      lowBytes,
      lookMs: timings.storageLookMs,
      onChange: (refusal) =>
        refusal === null
          ? log.info('there is disk space again: turns start')
          : logError(log, 'no turn starts until disk space is freed', refusal),
    }),
  };
  const running = await startInstance(deps, workers);
  return {
    async stop() {
      await running.stop();
      deps.storage.stop();
      deps.models.stop();
      settings.stop();
      await liveness.stop();
      await model.stop();
      await (await import('@rookery/provider')).closeConnections();
      await bus.drain();
    },
  };
}
