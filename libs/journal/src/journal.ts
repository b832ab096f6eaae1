import { type Bus, busError, journalIdentity } from '@rookery/bus';
import { AppError, JOURNAL, productionTimings, type StoredCommit, type Timings } from '@rookery/protocol';
import { type AppendRequest, type AppendResult, append } from './append.ts';
import { decodeCommit } from './decode.ts';
import { getBatch, getLast } from './read.ts';
import { type StreamFacts, startTail, type Tail, type TailOptions } from './tail.ts';

export interface JournalOptions {
  stream?: string;
  timings?: Pick<Timings, 'ambiguousDeadlineMs'>;
  /** For writers that own their subjects and may read only their last messages. Default false. */
  singleWriter?: boolean;
  /** Why nothing may be appended any more, null where it may: a journal that is not the one that decisions are made on. */
  guard?: () => AppError | null;
}

export interface JournalPage {
  commits: StoredCommit[];
  /** Messages of the page that are no readable commits of ours. */
  skipped: number;
  /** Where the next page starts. */
  nextSeq: number;
  /** False where the stream holds more matching messages behind this page. */
  end: boolean;
}

/** One stream of commits: append, read, follow. */
export interface Journal {
  readonly stream: string;
  append(request: AppendRequest): Promise<AppendResult>;
  /** All readable commits of a subject after a sequence. */
  readSubject(subject: string, afterSeq: number): Promise<StoredCommit[]>;
  readLast(subject: string): Promise<StoredCommit | null>;
  readPage(query: { fromSeq: number; max: number; filter?: string }): Promise<JournalPage>;
  info(): Promise<StreamFacts & { messages: number }>;
  /** Home and journal ids from the JOURNAL stream's metadata. */
  identity(): Promise<{ homeId: string; journalId: string }>;
  tail(options: Omit<TailOptions, 'stream'>): Tail;
  /** `performance.now()` of the last append that failed for the journal's reasons, null after one that succeeded. */
  failedSince(): number | null;
}

/** Opens a stream of commits on a connection. */
export function openJournal(bus: Bus, options: JournalOptions = {}): Journal {
  const stream = options.stream ?? JOURNAL;
  const appendOptions = {
    stream,
    deadlineMs: options.timings?.ambiguousDeadlineMs ?? productionTimings.ambiguousDeadlineMs,
    singleWriter: options.singleWriter ?? false,
    guard: options.guard,
  };
  let failedSince: number | null = null;

  const readPage: Journal['readPage'] = async ({ fromSeq, max, filter }) => {
    const { messages, pending } = await getBatch(bus, stream, {
      fromSeq,
      max,
      ...(filter === undefined ? {} : { filter }),
    });
    const commits: StoredCommit[] = [];
    for (const message of messages) {
      const decoded = decodeCommit(message);
      if (decoded.ok) commits.push(decoded.stored);
    }
    const last = messages.at(-1)?.streamSeq;
    return {
      commits,
      skipped: messages.length - commits.length,
      nextSeq: last === undefined ? fromSeq : last + 1,
      end: last === undefined || pending === 0,
    };
  };

  return {
    stream,
    async append(request) {
      try {
        const result = await append(bus, appendOptions, request);
        failedSince = null;
        return result;
      } catch (error) {
        if (error instanceof AppError && (error.code.startsWith('JOURNAL_') || error.code === 'STORAGE_LOW')) {
          failedSince ??= performance.now();
        }
        throw error;
      }
    },
    async readSubject(subject, afterSeq) {
      const out: StoredCommit[] = [];
      for (let fromSeq = afterSeq + 1; ; ) {
        const page = await readPage({ fromSeq, max: 256, filter: subject });
        out.push(...page.commits);
        if (page.end) return out;
        fromSeq = page.nextSeq;
      }
    },
    async readLast(subject) {
      const message = await getLast(bus, stream, subject);
      if (message === null) return null;
      const decoded = decodeCommit(message);
      return decoded.ok ? decoded.stored : null;
    },
    readPage,
    async info() {
      try {
        const { state, created } = await bus.jsm.streams.info(stream);
        return { lastSeq: state.last_seq, firstSeq: state.first_seq, messages: state.messages, created };
      } catch (error) {
        throw busError(error);
      }
    },
    identity: () => journalIdentity(bus),
    tail: (tailOptions) => startTail(bus, { stream, ...tailOptions }),
    failedSince: () => failedSince,
  };
}
