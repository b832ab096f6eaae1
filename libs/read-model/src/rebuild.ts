import type { Bus } from '@rookery/bus';
import { getBatch, type Journal, type TailMessage } from '@rookery/journal';
import type { Projection } from '@rookery/kernel';
import { AppError, toAppError } from '@rookery/protocol';
import type { Applier } from './applier.ts';
import { compareFiles, openSnapshot } from './compare-files.ts';
import { type Database, isPassing } from './database.ts';
import { keepFileAs, pointTo, removeFile } from './generations.ts';
import { type BuildPorts, NextGeneration } from './next-generation.ts';
import { type Patience, readWhole } from './recognise.ts';
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
  patience: Patience;
  onProgress(appliedSeq: number, lastSeq: number): void;
  /** Lets nothing be applied until the function that it returns is called. */
  hold(): () => void;
  /** Applies to the new file from now on; resolves when nothing reads the old one any more. */
  install(next: NextGeneration): Promise<void>;
}

/** The journal has to be recognised again, which waits for what is held: the change is tried again after that. */
class Interrupted extends Error {}

type Query = { fromSeq: number; max: number; maxBytes: number };

/** Messages by sequence of the stream that the checkpoint was compared with, for as long as that takes. */
async function readRecognised(site: RebuildSite, query: Query, isHeld: boolean): Promise<TailMessage[]> {
  for (;;) {
    const found = site.journal();
    if (found === null && isHeld) throw new Interrupted();
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
    const found = site.journal();
    if (found === null) throw new Interrupted();
    const facts = await found.journal.info().catch(() => null);
    const { created, appliedSeq } = site.live().applier.checkpoint;
    if (facts !== null && site.journal() !== null) {
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

/**
 * Brings the new file to the sequence of the old one and puts it in force; snapshots of both stand at that sequence. Null
 * where it has to be tried again.
 */
async function change(site: RebuildSite, next: NextGeneration, follow: () => Promise<void>): Promise<Change | null> {
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
    if (error instanceof Interrupted) return null;
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
  const liveSeq = () => site.live().applier.checkpoint.appliedSeq;
  const ports = (isHeld: boolean): BuildPorts => ({
    // What is missing from a page may come from another copy of the stream, or be on record as erased.
    read: (query, isComplete) => readWhole(() => readRecognised(site, query, isHeld), isComplete, site.patience),
    liveSeq,
    onProgress: (appliedSeq) => site.onProgress(appliedSeq, liveSeq()),
  });
  let next: NextGeneration | null = null;
  let changed: Change | null = null;
  try {
    next = new NextGeneration(path, site.projection, handOut, old.applier, old.db);
    while (changed === null) {
      while (site.journal() === null) await pause(LOOK_MS);
      await next.follow(ports(false), NEAR);
      const built = next;
      changed = await change(site, built, () => built.follow(ports(true), 0));
    }
  } catch (error) {
    next?.abandon();
    if (!isPassing(error)) throw error;
    throw new AppError('STORAGE_LOW', { cause: error, details: { sqlite: (error as { code?: unknown }).code } });
  }
  const { before, after, moved } = changed;
  let result: RebuildResult | null = null;
  try {
    result = await compareFiles(before, after, next.appliedSeq, site.patience.isStopped);
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
