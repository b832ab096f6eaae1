export {
  agentWorkers,
  homeFolder,
  integerSetting,
  programOf,
  type RunningService,
  readServiceConfig,
  type ServiceConfig,
  type ServiceName,
  type StartService,
  serviceOf,
  timingsFrom,
  VERSION,
  vaultBucketsOf,
} from './config.ts';
export { faultPoint } from './fault-point.ts';
export { lockHome } from './home-lock.ts';
export { createLogger, type Logger, logError } from './logger.ts';
export { commandOf, endProcess } from './process-identity.ts';
export { projectorEntry } from './projector-entry.ts';
export { onReadModelState } from './read-model-state.ts';
export { runService, runServices, type ServicePart } from './run.ts';
export { type Storage, type StorageOptions, storageLowBytes, watchStorage } from './storage.ts';
