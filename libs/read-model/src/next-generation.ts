import type { TailMessage } from '@rookery/journal';
import type { Projection } from '@rookery/kernel';
import { AppError } from '@rookery/protocol';
import { Applier } from './applier.ts';
import type { Database } from './database.ts';
import { removeFile } from './generations.ts';
import { holeError } from './identity.ts';
import { type PreparedFile, prepareFile } from './prepare-file.ts';

/** Messages of one page: the projector that serves has its turn between two of them. */
const PAGE = 256;
const PAGE_BYTES = 1024 * 1024;

export interface BuildPorts {
  /** Reads the stream that was recognised; throws where the build is to be given up. */
  read(
    query: { fromSeq: number; max: number; maxBytes: number },
    isComplete: (page: TailMessage[]) => boolean,
  ): Promise<TailMessage[]>;
  /** How far the file that serves is. */
  liveSeq(): number;
  onProgress(appliedSeq: number): void;
}

/** The next generation of a read model's file, built from the stream while the one before it serves. */
export class NextGeneration {
  readonly path: string;
  readonly file: PreparedFile;
  readonly applier: Applier;
  #settledSeq = 0;

  /** Begins an empty file for the same journal as that of `live`; what was left under its name is removed. */
  constructor(
    path: string,
    projection: Projection,
    handOut: readonly string[] | null,
    live: Applier,
    liveDb: Database,
  ) {
    const { created, journalId } = live.checkpoint;
    if (created === null || journalId === null) throw new AppError('SERVICE_UNAVAILABLE');
    this.path = path;
    removeFile(path);
    this.file = prepareFile(path, projection);
    this.applier = new Applier(this.file.db, projection, handOut);
    this.applier.adopt(created, journalId);
    // What is on record as erased is not to be had from the stream a second time.
    const erased = liveDb.prepare<[], [number, number]>('SELECT from_seq, to_seq FROM erasures').raw().all();
    const insert = this.file.db.prepare<[number, number]>('INSERT INTO erasures VALUES (?, ?)');
    this.file.db.transaction(() => {
      for (const [from, to] of erased) insert.run(from, to);
    })();
  }

  /** Applies the stream until `behind` sequences or less are left to the file that serves, and never passes it. */
  async follow(ports: BuildPorts, behind: number): Promise<void> {
    for (;;) {
      const { appliedSeq } = this.applier.checkpoint;
      const upTo = ports.liveSeq();
      if (appliedSeq >= upTo - behind) return;
      const max = Math.min(PAGE, upTo - appliedSeq);
      const page = await ports.read({ fromSeq: appliedSeq + 1, max, maxBytes: PAGE_BYTES }, (found) =>
        this.#isWhole(appliedSeq, found),
      );
      const messages = page.filter(({ streamSeq }) => streamSeq <= upTo);
      if (messages.length === 0) {
        if (this.applier.isErased(appliedSeq + 1, upTo)) return;
        throw holeError(appliedSeq, page[0]?.streamSeq ?? upTo + 1);
      }
      const { stop } = this.applier.apply(messages);
      if (stop?.reason === 'hole') throw holeError(stop.after, stop.found);
      if (stop !== null) throw new AppError('READMODEL_TOO_OLD', { details: { streamSeq: stop.streamSeq } });
      ports.onProgress(this.applier.checkpoint.appliedSeq);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** True for a page without a hole that is not on record. */
  #isWhole(appliedSeq: number, page: TailMessage[]): boolean {
    let last = appliedSeq;
    for (const { streamSeq } of page) {
      if (streamSeq !== last + 1 && !this.applier.isErased(last + 1, streamSeq - 1)) return false;
      last = streamSeq;
    }
    return page.length > 0;
  }

  /** Puts everything into the main file and on the disk: a pointer to it must not outlive it. */
  settle(): void {
    this.file.db.pragma('wal_checkpoint(TRUNCATE)');
    this.#settledSeq = this.applier.checkpoint.appliedSeq;
  }

  /** Sequence at which it was settled. */
  get appliedSeq(): number {
    return this.#settledSeq;
  }

  abandon(): void {
    this.file.db.close();
    removeFile(this.path);
  }
}
