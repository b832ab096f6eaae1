export { type BlobStore, openBlobs } from './blobs.ts';
export { type Bucket, type BucketEntry, openBucket, type WatchCallback } from './bucket.ts';
export { type CallOptions, callCommand } from './call.ts';
export { type ConfigOptions, type ConfigView, type InvalidSection, openConfig } from './config.ts';
export { type Bus, type BusOptions, connectBus, isSupportedServer } from './connection.ts';
export { announceService, type ServiceStats } from './discovery.ts';
export { busError, classifyFailure, type Failure, transientApiCodes } from './failures.ts';
export { renewJournalId } from './journal-id.ts';
export { type Liveness, type LivenessOptions, startLiveness } from './liveness.ts';
export {
  type Identity,
  journalIdentity,
  type Provisioned,
  type ProvisionOptions,
  provision,
  verifyProvisioned,
} from './provision.ts';
export { type CommandHandler, type CommandServer, type ServeOptions, serveCommands } from './serve.ts';
export { publicKeyOf, signAuthorization, verifyAuthorization } from './signing.ts';
export { untilAvailable, type WaitOptions, waitProvisioned } from './wait.ts';
