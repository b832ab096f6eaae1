export { acceptLoss, type LossReport } from './accept-loss.ts';
export { type BackupReport, backUp, backupName } from './back-up.ts';
export { type Manifest, readManifest } from './manifest.ts';
export { withOfflineServer } from './offline-server.ts';
export { finishRestore, type RestoreReport, restore } from './restore.ts';
export { keepNewest, type Schedule, startSchedule } from './schedule.ts';
