export {
  agentWorkers,
  homeFolder,
  integerSetting,
  type RunningService,
  readServiceConfig,
  type ServiceConfig,
  type ServiceName,
  type StartService,
  timingsFrom,
  VERSION,
} from './config.ts';
export { faultPoint } from './fault-point.ts';
export { createLogger, type Logger, logError } from './logger.ts';
export { projectorEntry } from './projector-entry.ts';
export { runService } from './run.ts';
