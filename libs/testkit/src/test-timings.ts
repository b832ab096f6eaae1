import { productionTimings, type Timings } from '@rookery/protocol';

/** Waits that tests use: the production relations between them, at about a tenth of their length. */
export const testTimings: Timings = {
  ...productionTimings,
  leaseRefreshMs: 400,
  leaseTtlMs: 2000,
  presenceTtlMs: 3000,
  orphanLookMs: 800,
  orphanGraceMs: 1500,
  sweepMs: 500,
  holderSilentMs: 1000,
  drainMs: 1000,
  toolSilenceMs: 3000,
  lockWaitMs: 1000,
  restartBaseMs: 100,
  restartCapMs: 500,
  outboxRetryBaseMs: 100,
  outboxRetryCapMs: 1000,
  canaryMs: 300,
  storageLookMs: 300,
  publishTimeoutMs: 1500,
  commandTimeoutMs: 8000,
};
