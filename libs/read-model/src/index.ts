export {
  type Attempt,
  appendDecided,
  applyingError,
  type CommitParts,
  type Decide,
} from './append-decided.ts';
export { type Database, type DatabaseOptions, openDatabase } from './database.ts';
export { digest } from './digest.ts';
export { currentFile } from './generations.ts';
export { acquireLock, type Lock } from './lock.ts';
export { openReadModel } from './open-read-model.ts';
export type { RebuildReason } from './prepare-file.ts';
export { identify, isAlive, type ProcessIdentity } from './process-identity.ts';
export type {
  AppliedBatch,
  ReadModel,
  ReadModelOptions,
  ReadModelState,
  ReadModelStats,
  RebuildProgress,
} from './read-model.ts';
export type { Damage, Reader, SubjectHead } from './reader.ts';
export { runProjector } from './run-projector.ts';
export type { BusConnection, RebuildResult } from './worker-messages.ts';
