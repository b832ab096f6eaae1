import { describe, expect, it } from 'vitest';
import { limits, productionTimings } from './limits.ts';

/** The numbers of the documents, written by hand: a change of one is a change of the contract. */
describe('limits', () => {
  it.each<[keyof typeof limits, number]>([
    ['eventsPerCommit', 1024],
    ['commitBytes', 524_288],
    ['inlineStringChars', 65_536],
    ['blobHeadChars', 1024],
    ['turnContentBytes', 262_144],
    ['titleChars', 200],
    ['workspaceTextChars', 200],
    ['pathChars', 4096],
    ['clientRequestIdChars', 200],
    ['identifierChars', 200],
    ['cursorChars', 2048],
    ['memoryCursorChars', 1024],
    ['pageDefault', 50],
    ['pageMax', 100],
    ['replayDefault', 500],
    ['replayMax', 1000],
    ['memoryContentChars', 2048],
    ['memoryPreviewChars', 160],
    ['memoryScopeKeyChars', 200],
    ['modelIdChars', 200],
    ['baseUrlChars', 2048],
    ['apiKeyChars', 8192],
    ['headerNameChars', 200],
    ['headerValueChars', 8192],
    ['contextWindowMax', 9_007_199_254_740_991],
    ['contextWindowDefault', 32_768],
    ['providerRequestRetries', 4],
    ['providerStreamRetries', 5],
    ['pendingSteers', 64],
    ['deltaChars', 256],
    ['deltaMs', 50],
    ['connectionQueue', 1024],
    ['rpcMessageBytes', 1_048_576],
    ['replayRing', 16_384],
    ['replayConsumers', 4],
    ['agentWorkersDefault', 6],
    ['agentWorkersMax', 8],
    ['toolOutputBytes', 51_200],
    ['toolReadLines', 2000],
    ['processPageBytes', 16_384],
    ['processesPerThread', 64],
    ['processCommandChars', 32_768],
    ['hookBodyBytes', 528_384],
    ['deliveryIdChars', 200],
  ])('%s is %i', (name, value) => {
    expect(limits[name]).toBe(value);
  });

  it('leave room for a whole delta, a turn and a page of events in what carries them', () => {
    expect(limits.turnContentBytes).toBeLessThan(limits.commitBytes);
    expect(limits.turnContentBytes).toBeLessThan(limits.rpcMessageBytes);
    expect(limits.blobHeadChars).toBeLessThan(limits.inlineStringChars);
  });
});

describe('production waits', () => {
  it.each<[keyof typeof productionTimings, number]>([
    ['leaseRefreshMs', 3000],
    ['leaseTtlMs', 10_000],
    ['presenceTtlMs', 15_000],
    ['orphanLookMs', 6000],
    ['orphanGraceMs', 15_000],
    ['sweepMs', 5000],
    ['holderSilentMs', 2000],
    ['conflictWaitMs', 2000],
    ['ackHoldMs', 5000],
    ['ambiguousDeadlineMs', 15_000],
    ['providerConnectMs', 10_000],
    ['providerHeadersMs', 30_000],
    ['providerIdleMs', 300_000],
    ['providerRetryBaseMs', 200],
    ['providerRetryCapMs', 5000],
    ['toolSilenceMs', 15_000],
    ['authCodeMs', 300_000],
    ['lockWaitMs', 10_000],
    ['dedupeWindowMs', 120_000],
  ])('%s is %i', (name, value) => {
    expect(productionTimings[name]).toBe(value);
  });

  it('let a lease survive two refreshes that are lost', () => {
    expect(productionTimings.leaseTtlMs).toBeGreaterThan(3 * productionTimings.leaseRefreshMs);
    expect(productionTimings.orphanGraceMs).toBeGreaterThan(productionTimings.leaseTtlMs);
  });
});
