import { mkdirSync } from 'node:fs';
import { start as startAgent } from '@rookery/agent';
import { start as startChannels } from '@rookery/channels';
import { start as startGateway } from '@rookery/gateway';
import { start as startMemory } from '@rookery/memory';
import { toAppError } from '@rookery/protocol';
import {
  logError,
  type RunningService,
  readServiceConfig,
  type ServiceName,
  type StartService,
} from '@rookery/service';
import { start as startToolRunner } from '@rookery/tool-runner';

/** The five services in the order in which they stop, each as its own NATS user. */
const services: [ServiceName, StartService][] = [
  ['channels', startChannels],
  ['gateway', startGateway],
  ['agent', startAgent],
  ['tool', startToolRunner],
  ['memory', startMemory],
];

const configs = services.map(([name, start]) => ({ start, config: readServiceConfig(name, process.env) }));
const log = configs[0]?.config.log;

function fail(error: unknown): void {
  if (log) logError(log, 'unexpected error', toAppError(error));
  process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const starting = Promise.all(
  configs.map(({ start, config }): Promise<RunningService> => {
    mkdirSync(config.folder, { recursive: true, mode: 0o700 });
    return start(config);
  }),
);

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  for (const service of await starting) await service.stop();
  process.exit(0);
}
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.on(event, () => void stop().catch(fail));

await starting;
process.send?.({ type: 'ready' });
