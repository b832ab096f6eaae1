import type { Bus } from '@rookery/bus';
import { getBatch, type Journal, type TailMessage } from '@rookery/journal';
import type { Projection } from '@rookery/kernel';
import { AppError, toAppError } from '@rookery/protocol';
import type { Applier } from './applier.ts';
import { compareFiles, openSnapshot } from './compare-files.ts';
import type { Database } from './database.ts';
import { keepFileAs, pointTo, removeFile } from './generations.ts';
import { NextGeneration } from './next-generation.ts';
import type { ProjectorData, RebuildResult } from './worker-messages.ts';

/** Sequences that the new file may be behind when applying is held for the change. */
const NEAR = 1000;
const LOOK_MS = 20;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a rebuild sees of the projector that serves meanwhile. */
export interface RebuildSite {
  projection: Projection;
  data: Pick<ProjectorData, 'stream' | 'base' | 'handOut'>;
  /** The file in force. */
  live(): { path: string; db: Database; applier: Applier };
  /** The journal that was recognised, null while it is not; throws where the projector has stopped or ended. */
  journal(): { bus: Bus; journal: Journal } | null;
  isStopped(): boolean;
  onProgress(appliedSeq: number, lastSeq: number): void;
  /** Lets nothing be applied until the function that it returns is called. */
  hold(): () => void;
  /** Applies to the new file from now on; resolves when nothing reads the old one any more. */
  install(next: NextGeneration): Promise<void>;
}

/** Messages by sequence of the stream that the checkpoint was compared with, for as long as that takes. */
async function readRecognised(
  site: RebuildSite,
  query: { fromSeq: number; max: number; maxBytes: number },
): Promise<TailMessage[]> {
  for (;;) {
    const found = site.journal();
    try {
      const batch = found === null ? null : await getBatch(found.bus, site.data.stream, query);
      // A reconnect in between may have brought another journal: the tail is about to find out.
      if (batch !== null && site.journal() !== null) return batch.messages;
    } catch (error) {
      if (toAppError(error).retry === 'never') throw error;
    }
    await pause(LOOK_MS);
  }
}

/** A stream that was made again while the file was built gives no error of its own. */
async function requireSameJournal(site: RebuildSite): Promise<void> {
  for (;;) {
    const facts = await site
      .journal()
      ?.journal.info()
      .catch(() => undefined);
    const { created, appliedSeq } = site.live().applier.checkpoint;
    if (facts !== undefined && site.journal() !== null) {
      if (facts.created === created && facts.lastSeq >= appliedSeq) return;
      throw new AppError('JOURNAL_REGRESSED', { details: { expected: created, found: facts.created } });
    }
    await pause(LOOK_MS);
  }
}

interface Change {
  before: Database | null;
  after: Database | null;
  moved: Promise<void>;
}

/** Brings the new file to the sequence of the old one and puts it in force; snapshots of both stand at that sequence. */
async function change(site: RebuildSite, next: NextGeneration, follow: () => Promise<void>): Promise<Change> {
  const release = site.hold();
  let before: Database | null = null;
  let after: Database | null = null;
  try {
    await follow();
    await requireSameJournal(site);
    next.settle();
    before = openSnapshot(site.live().path);
    after = openSnapshot(next.path);
    pointTo(site.data.base, next.path);
    return { before, after, moved: site.install(next) };
  } catch (error) {
    before?.close();
    after?.close();
    throw error;
  } finally {
    release();
  }
}

/**
 * Builds the next generation of a read model's file from the stream while the one in force serves, puts it in force, and
 * compares both at the sequence of the change. What it rejects with has changed nothing.
 */
export async function rebuild(site: RebuildSite, path: string): Promise<RebuildResult> {
  if (site.journal() === null) throw new AppError('SERVICE_UNAVAILABLE');
  const old = site.live();
  const { base, handOut } = site.data;
  const next = new NextGeneration(path, site.projection, handOut, old.applier, old.db);
  const liveSeq = () => site.live().applier.checkpoint.appliedSeq;
  const ports = {
    read: (query: { fromSeq: number; max: number; maxBytes: number }) => readRecognised(site, query),
    liveSeq,
    onProgress: (appliedSeq: number) => site.onProgress(appliedSeq, liveSeq()),
  };
  let changed: Change;
  try {
    await next.follow(ports, NEAR);
    changed = await change(site, next, () => next.follow(ports, 0));
  } catch (error) {
    next.abandon();
    throw error;
  }
  const { before, after, moved } = changed;
  let result: RebuildResult | null = null;
  try {
    result = await compareFiles(before, after, next.appliedSeq, site.isStopped);
    await moved;
  } finally {
    before?.close();
    after?.close();
    old.db.close();
    // Nobody has it open any more. One that was wrong is kept for a look at it.
    if (result !== null && result.differences.length > 0) keepFileAs(old.path, `${base}.suspect`);
    else removeFile(old.path);
  }
  if (result === null) throw new AppError('SHUTTING_DOWN');
  return result;
}
