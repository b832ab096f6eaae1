import { announceService, openBlobs, openBucket, openConfig, startLiveness } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { AppError, type HouseStatus, toAppError } from '@rookery/protocol';
import type { ReadModelStats } from '@rookery/read-model';
import { Redactor } from '@rookery/secrets';
import { logError, onReadModelState, type ServiceConfig } from '@rookery/service';
import { TokenBook } from './auth/token-book.ts';
import { ChannelService } from './channels/channel-service.ts';
import { protectSecrets } from './config/protect-secrets.ts';
import { SecretStore } from './config/secret-store.ts';
import { SectionWriter } from './config/section-writer.ts';
import { connectJournal, watchIdentity } from './connect.ts';
import { ConnectionRegistry } from './connection/registry.ts';
import type { EventHub } from './events/hub.ts';
import { createReplay } from './events/replay.ts';
import { openFeed } from './feed.ts';
import { CommandSender, edgeOf } from './methods/command-sender.ts';
import { houseMethods } from './methods/house-methods.ts';
import { threadMethods } from './methods/thread-methods.ts';
import { ProviderHealth } from './providers/health.ts';
import { importProviders } from './providers/import-once.ts';
import { ProviderService } from './providers/provider-service.ts';
import { SeenSeq } from './rpc/call.ts';
import { createDispatcher, type Dispatch } from './rpc/dispatcher.ts';
import { askSupervisor } from './status/ask-supervisor.ts';
import type { Metrics } from './status/metrics.ts';
import { type Readiness, readinessOf, systemStatus } from './status/readiness.ts';

const SWEEP_MS = 60 * 60 * 1000;
const DEFAULT_RUNNER = 'main';
/** A list of channels is shown without their counts rather than late. */
const LIST_PATIENCE_MS = 500;

/** Everything of the gateway that needs NATS. */
export interface Live {
  dispatch: Dispatch;
  hub: EventHub;
  tokens: TokenBook;
  registry: ConnectionRegistry;
  sender: CommandSender;
  redactor: Redactor;
  /** What all stateless requests together have had acknowledged. */
  statelessSeen: SeenSeq;
  journalId: () => string;
  readiness: () => Readiness;
  /** What the supervisor has running; null where there is none. */
  house: () => Promise<HouseStatus | null>;
  /** Why requests are refused: the journal that this gateway knew is gone, or cannot be read. */
  failure: () => AppError | null;
  stats: () => ReadModelStats;
  stop(): Promise<void>;
}

/** Connects to the house and opens all that the edge serves from; resolves when it is level with the journal. */
export async function startLive(config: ServiceConfig, metrics: Metrics): Promise<Live> {
  const { home, instance, timings, log, env } = config;
  const connected = await connectJournal(config);
  const { bus, homeId, journalId } = connected;
  const journal = openJournal(bus, { timings });
  const blobs = openBlobs(bus);
  const settings = await openConfig(bus, {
    onInvalid: (found) => log.error({ code: 'CONFIG_INVALID', ...found }, 'a saved section cannot be read'),
  });
  const edge = () => edgeOf(settings.get('edges').edges, 'gateway');
  const health = new ProviderHealth();
  const tokens = await TokenBook.open({ tokens: await openBucket(bus, 'tokens'), home, codeMs: timings.authCodeMs });
  if (tokens.fileIsStale) log.warn('the token file of this home is older than the token in force and opens nothing');

  let failure: AppError | null = null;
  const registry = new ConnectionRegistry((connection) => tokens.isAlive(connection.principal));
  tokens.onRevoked(() => registry.revoked());
  const end = (error: AppError) => {
    failure ??= error;
    logError(log, 'this gateway can no longer follow the journal', error);
    registry.journalChanged();
  };
  const unwatch = watchIdentity(connected, (found) =>
    end(new AppError('JOURNAL_REGRESSED', { details: { journalId: found, known: journalId } })),
  );

  const watchState = onReadModelState(log, 'state.db');
  const { model, hub, source, gate } = await openFeed({
    config,
    journal,
    blobs,
    world: () => edge().world,
    onApplied: ({ commits }) => health.observe(commits),
    onState: (state) => {
      watchState(state);
      if (state.state === 'regressed' || state.state === 'too-old') end(state.error);
    },
  });

  const redactor = new Redactor();
  const writer = new SectionWriter({
    settings,
    journal,
    headOf: (subject) => model.headOf(subject),
    instance,
    agentId: () => edge().agentId,
    retryMs: timings.canaryMs,
    onDelay: (error) => logError(log, 'a change of settings is not on record yet', toAppError(error)),
  });
  const vault = async (name: 'vault_provider' | 'vault_channel') =>
    new SecretStore({ bucket: await openBucket(bus, name), name, key: config.vaultKeys[name], redactor, env });
  const providers = new ProviderService({ home, settings, writer, secrets: await vault('vault_provider'), health });
  await importProviders(config, settings, providers);
  const sender = new CommandSender({ bus, homeId, edge, timings });
  const channels = new ChannelService({
    settings,
    writer,
    secrets: await vault('vault_channel'),
    ask: () =>
      sender.send({ service: 'channels', method: 'channel.list', params: {}, patienceMs: LIST_PATIENCE_MS }, null),
  });
  const unprotect = await protectSecrets({
    home,
    redactor,
    settings,
    protectAll: [() => providers.protectAll(), () => channels.protectAll()],
    log,
  });
  const liveness = await startLiveness(bus, {
    service: 'gateway',
    instance,
    timings,
    about: { pid: process.pid, version: config.version },
  });

  const announced = announceService(
    bus,
    { service: 'gateway', instance, version: config.version },
    [],
    metrics.serviceStats,
  );

  const readiness = () =>
    readinessOf({
      natsConnected: bus.isConnected(),
      readModel: model.state().state,
      lastAppendFailed: journal.failedSince() !== null,
      journalChanged: failure !== null,
    });
  const house = () => askSupervisor(bus, edge());
  const status = () =>
    systemStatus({
      bus,
      journal,
      stats: () => model.stats(),
      alive: (service) => liveness.list(service),
      house,
      readiness,
      connections: () => registry.size,
      latestSeq: () => hub.latestSeq,
      ids: { homeId, journalId },
      version: config.version,
      startedAt: new Date(performance.timeOrigin).toISOString(),
    });
  const dispatch = createDispatcher({
    handlers: {
      ...threadMethods({
        sender,
        view: { world: () => edge().world, model, hub },
        blobs,
        settings,
        nkeySeed: config.nkeySeed,
        runner: env.ROOKERY_RUNNER || DEFAULT_RUNNER,
        replay: createReplay({ hub, source, gate }),
      }),
      ...houseMethods({ sender, providers, channels, tokens, status, agentId: () => edge().agentId, redactor }),
    },
    isProtected: (value) => redactor.contains(value),
    onDone: ({ method, code, ms, error }) => {
      metrics.rpc(method, code, ms);
      if (code === 'INTERNAL') logError(log, `${method} failed`, toAppError(error));
      else log.debug({ method, code, ms: Math.round(ms) }, 'rpc');
    },
  });
  const sweep = setInterval(() => void tokens.sweep().catch(() => undefined), SWEEP_MS);

  return {
    dispatch,
    hub,
    tokens,
    registry,
    sender,
    redactor,
    statelessSeen: new SeenSeq(),
    journalId: () => journalId,
    readiness,
    house,
    failure: () => failure,
    stats: () => model.stats(),
    async stop() {
      clearInterval(sweep);
      writer.stop();
      registry.stop();
      unwatch();
      unprotect();
      tokens.stop();
      settings.stop();
      announced.stop();
      await liveness.stop();
      await model.stop();
      await bus.drain();
    },
  };
}
