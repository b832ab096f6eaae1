import { serveCommands } from '@rookery/bus';
import { logError } from '@rookery/service';
import { startCanary } from './canary.ts';
import { runCommands } from './commands/runs.ts';
import { threadCommands } from './commands/threads.ts';
import { startTurn, submitLeftSteer } from './commands/turns.ts';
import type { AgentDeps } from './deps.ts';
import { Scheduler } from './runs/scheduler.ts';

/** Starts what an instance of the agent service does with its parts: commands, scheduler and loop. */
export async function startInstance(deps: AgentDeps, workers: number): Promise<{ stop(): Promise<void> }> {
  const { bus, instance, config, log } = deps;
  const scheduler = new Scheduler(deps, workers, (steer) => submitLeftSteer(deps, steer));
  const server = await serveCommands(
    bus,
    {
      service: 'agent',
      instance,
      version: config.version,
      onError: (method, error) => logError(log, `command ${method} failed`, error),
    },
    {
      ...threadCommands(deps),
      ...runCommands(deps, scheduler),
      'turn.start': (request) => startTurn(deps, request),
    },
  );
  const canary = startCanary(deps);
  scheduler.start();
  return {
    async stop() {
      canary.stop();
      await scheduler.stop();
      await server.stop();
    },
  };
}
