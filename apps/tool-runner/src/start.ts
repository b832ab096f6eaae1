import { join } from 'node:path';
import { connectBus, openConfig, serveCommands, startLiveness, untilAvailable } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { AppError, toAppError } from '@rookery/protocol';
import { acquireLock } from '@rookery/read-model';
import { commandEnvironment, PathLocks } from '@rookery/sandbox';
import { faultPoint, logError, type RunningService, type ServiceConfig } from '@rookery/service';
import { spillOutput } from './artifacts.ts';
import { isToolName } from './definitions.ts';
import { runnerHandlers } from './handlers.ts';
import { JournalFacts } from './journal-facts.ts';
import { allows, profileOf } from './permission-profile.ts';
import { ProcessFiles } from './processes/process-files.ts';
import { ProcessTable } from './processes/process-table.ts';
import { Receipts } from './receipts.ts';
import { recoverCalls } from './recover-calls.ts';
import { requireCurrentRun } from './run-fence.ts';
import { runTool } from './run-tool.ts';
import { type RunnerSettings, readSettings } from './settings.ts';
import { requireSoleRunner } from './sole-runner.ts';
import { refusal } from './tool-call.ts';
import { type CallPorts, ToolCalls } from './tool-calls.ts';

const PRUNE_MS = 60 * 60 * 1000;

/** Starts the tool-runner. Throws CONFIG_INVALID, HOME_LOCKED, NATS_TOO_OLD. */
export async function start(config: ServiceConfig): Promise<RunningService> {
  const settings = readSettings(config.env);
  const lock = acquireLock(join(config.folder, 'lock'));
  try {
    return await startLocked(config, settings, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startLocked(
  config: ServiceConfig,
  { runnerId, workspacesRoot, userHome }: RunnerSettings,
  unlock: () => void,
): Promise<RunningService> {
  const { log, timings, home, instance, version } = config;
  const report = (error: unknown): void => logError(log, 'beside a tool call', toAppError(error));
  const bus = await connectBus({
    url: config.natsUrl,
    user: 'tool',
    seed: config.nkeySeed,
    name: instance,
    publishTimeoutMs: timings.publishTimeoutMs,
    signal: config.stopping,
    onPermissionViolation: (subject) =>
      logError(log, 'NATS refused a subject', new AppError('PERMISSION_VIOLATION', { details: { subject } })),
  });
  // Before anything is taken over: the files of a runner belong to one process.
  const about = { pid: process.pid, version, runner: runnerId };
  const onInvalid = (found: object) =>
    log.error({ code: 'CONFIG_INVALID', ...found }, 'a saved section cannot be read');
  // It may read no more of the streams than its own subjects: the configuration is what shows that JetStream is there.
  const view = await untilAvailable(() => openConfig(bus, { onInvalid }), {
    signal: config.stopping,
    onWaiting: (error) => logError(log, 'the configuration is not there yet', error),
  });
  const liveness = await startLiveness(bus, { service: 'tool', instance, timings, about });
  try {
    await requireSoleRunner(bus, { runnerId, instance }, timings);
  } catch (error) {
    await liveness.stop();
    view.stop();
    await bus.close();
    throw error;
  }
  const journal = openJournal(bus, { timings, singleWriter: true });
  const receipts = new Receipts(join(config.folder, 'receipts.db'), instance);
  // What cannot be written for want of disk space must not end the runner, which would only end again: an old receipt
  // harms nobody, and a call that could not be settled is told to be lost.
  const tidy = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      report(error);
    }
  };
  const prune = (): void => tidy(() => receipts.prune(Date.now()));
  prune();
  const pruning = setInterval(prune, PRUNE_MS).unref();

  const files = new ProcessFiles(join(home, 'processes'));
  const facts = new JournalFacts(journal, instance, report);
  const environment = commandEnvironment(config.env);
  const processes = new ProcessTable(runnerId, { files, facts, timings, environment, report });
  await processes.adopt();
  tidy(() => recoverCalls(receipts, files));

  const locks = new PathLocks();
  const admit: CallPorts['admit'] = async (call, scope) => {
    const { threadId, clientRequestId } = call;
    const request = { world: scope.world, agentId: scope.agentId, threadId, clientRequestId };
    const profileId = profileOf(request, scope.authorization, view.get('edges'), view.get('permissions'));
    if (!allows(profileId)) throw new AppError('TOOL_DENIED', { details: { profileId } });
    await requireCurrentRun({ ...call, world: scope.world }, (subject) => journal.readLast(subject));
  };
  const run: CallPorts['run'] = async (call, context) => {
    if (!isToolName(call.toolName)) return refusal('unknown_tool', 'This runner has no such tool.');
    const outcome = await runTool(call.toolName, call.arguments, context, { locks, processes, report });
    return spillOutput(outcome, join(home, 'artifacts'), call.threadId, call.itemId);
  };
  const afterEffect = (): void => faultPoint('tool:after-effect');
  const calls = new ToolCalls({ receipts, userHome, admit, run, afterEffect, now: Date.now });

  const homeId = (): string | null => view.get('edges').homeId;
  const workspaces = { runnerId, homeId, root: workspacesRoot, locks, now: () => new Date() };
  const server = await serveCommands(
    bus,
    {
      service: 'tool',
      instance: runnerId,
      version,
      any: false,
      onError: (method, error) => logError(log, `command ${method}`, error),
    },
    runnerHandlers({ runnerId, calls, processes, workspaces }),
  );

  return {
    async stop() {
      clearInterval(pruning);
      const ending = calls.close();
      await server.stop();
      await ending;
      processes.close();
      await facts.close(timings.processDrainMs);
      await liveness.stop();
      view.stop();
      await bus.drain();
      receipts.close();
      unlock();
    },
  };
}
