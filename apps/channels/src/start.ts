import {
  connectBus,
  openBlobs,
  openBucket,
  openConfig,
  serveCommands,
  startLiveness,
  waitProvisioned,
} from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { channelsProjection } from '@rookery/kernel';
import { AppError, JOURNAL, toAppError } from '@rookery/protocol';
import { openReadModel } from '@rookery/read-model';
import { createVault, type Vault } from '@rookery/secrets';
import { logError, onReadModelState, projectorEntry, type RunningService, type ServiceConfig } from '@rookery/service';
import { startChannelLease } from './channel-lease.ts';
import { channelPorts } from './channel-ports.ts';
import { agentPort, startForwarder } from './forwarder.ts';
import { createHookGuard } from './hook-guard.ts';
import { listChannels } from './list.ts';
import { createAnswerPoster } from './post-answer.ts';
import { receiveHandler } from './receive.ts';
import { startSender } from './sender.ts';
import { WEBHOOK } from './views.ts';

/** Nobody waits for this view to the millisecond: deliveries and answers wait for the network anyway. */
const VIEW_REST_MS = 20;
const locked: Pick<Vault, 'get'> = {
  get: () => Promise.reject(new AppError('VAULT_LOCKED')),
};

/** Starts the channels service: deliveries from outside become turns, and answers go back. */
export async function start(config: ServiceConfig): Promise<RunningService> {
  const { service, instance, folder, timings, log } = config;
  const connection = { url: config.natsUrl, user: service, seed: config.nkeySeed, name: `${service} ${instance}` };
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.reverse().splice(0)) {
      await close().catch((error: unknown) => logError(log, 'a part did not stop in order', toAppError(error)));
    }
  };

  try {
    const bus = await connectBus({
      ...connection,
      publishTimeoutMs: timings.publishTimeoutMs,
      signal: config.stopping,
      onPermissionViolation: (subject) => log.error({ subject }, 'NATS refused a subject'),
    });
    closers.push(() => bus.drain());
    const { homeId } = await waitProvisioned(bus, [JOURNAL], {
      signal: config.stopping,
      onWaiting: (error) => logError(log, 'the journal is not there yet', error),
    });
    const settings = await openConfig(bus, {
      onInvalid: (found) => log.error({ code: 'CONFIG_INVALID', ...found }, 'a saved section cannot be read'),
    });
    closers.push(async () => settings.stop());

    // Set when what they wake is there.
    let onSettled = (): void => undefined;
    let onLive = (): void => undefined;
    const watchState = onReadModelState(log, 'channels.db');
    const model = await openReadModel<unknown>({
      dir: folder,
      file: 'channels.db',
      projection: channelsProjection,
      connection,
      timings,
      workerEntry: projectorEntry(),
      handOut: ['run.settled'],
      restMs: VIEW_REST_MS,
      onApplied: ({ commits }) => {
        if (commits.length > 0) onSettled();
      },
      onState: (state) => {
        if (state.state === 'live') onLive();
        watchState(state);
      },
    });
    closers.push(() => model.stop());
    const liveness = await startLiveness(bus, { service, instance, timings, about: { version: config.version } });
    closers.push(() => liveness.stop());

    const key = config.vaultKeys.vault_channel;
    const vault =
      key === undefined ? locked : createVault(await openBucket(bus, 'vault_channel'), 'vault_channel', key);
    const guard = createHookGuard({ config: settings, vault, env: config.env });
    const journal = openJournal(bus, { timings });
    const ports = channelPorts(journal, {
      homeId,
      instance,
      model,
      blobs: openBlobs(bus),
      timings,
      log,
      now: () => new Date(),
    });

    const profileId = () => settings.get('permissions').defaultProfile;
    const forwarder = startForwarder(ports, agentPort(bus, config.nkeySeed, profileId, timings.commandTimeoutMs));
    closers.push(() => forwarder.stop());
    const poster = createAnswerPoster();
    const leases = await openBucket(bus, 'leases');
    const lease = await startChannelLease({
      bucket: leases,
      channel: WEBHOOK,
      instance,
      timings,
      onAcquired: () => onSettled(),
    });
    closers.push(() => lease.stop());
    const sender = startSender(ports, lease, poster);
    closers.push(() => Promise.all([sender.stop(), forwarder.stop()]));
    onSettled = sender.wake;
    onLive = () => {
      forwarder.sweep();
      sender.wake();
    };
    onLive();

    const server = await serveCommands(
      bus,
      {
        service: 'channels',
        instance,
        version: config.version,
        onError: (method, error) => logError(log.child({ method }), 'a command failed', error),
      },
      {
        'hook.receive': receiveHandler(ports, guard, forwarder),
        'channel.list': async ({ world }) => {
          // What any instance has acknowledged shows.
          await model.waitFor((await journal.info()).lastSeq, timings.conflictWaitMs);
          return { result: { channels: model.read((db) => listChannels(db, world, settings.get('channels'))) } };
        },
      },
    );
    closers.push(() => server.stop());
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
