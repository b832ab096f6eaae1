import { parseSubject, type StoredCommit, toWireEvents } from '@rookery/protocol';
import { type HubEvent, hubEvent } from './hub-event.ts';

/** What events are made of: the journal's commits, with long strings put back. */
export interface CommitSource {
  world: string;
  readPage(query: { fromSeq: number; max: number; filter: string }): Promise<{
    commits: StoredCommit[];
    nextSeq: number;
    end: boolean;
  }>;
  /** True where the commit's thread is damaged from there on: such commits are shown nowhere. */
  isQuarantined(threadId: string, streamSeq: number): boolean;
  /** True where long strings of a commit lie in the object store. */
  hasBlobs(stored: StoredCommit): boolean;
  inline(stored: StoredCommit, threadId: string): Promise<StoredCommit>;
}

/** Thread of a commit that may leave this gateway; null for every other commit. */
export function visibleThread(source: CommitSource, stored: StoredCommit): string | null {
  const subject = parseSubject(stored.subject);
  if (subject === null || !('threadId' in subject) || subject.world !== source.world) return null;
  return source.isQuarantined(subject.threadId, stored.streamSeq) ? null : subject.threadId;
}

/** The conversation events of a commit, encoded. Long strings must be back in place. */
export function encodeCommit(stored: StoredCommit): HubEvent[] {
  return toWireEvents(stored).map((event) => hubEvent(event, stored.commit.cause));
}

/** The conversation events of a commit, encoded, with long strings fetched where there are any. */
export async function loadEvents(source: CommitSource, stored: StoredCommit): Promise<HubEvent[]> {
  const threadId = visibleThread(source, stored);
  if (threadId === null) return [];
  return encodeCommit(source.hasBlobs(stored) ? await source.inline(stored, threadId) : stored);
}

/** Commits of a subject filter from one stream sequence to another, in order. */
export async function* commitsBetween(
  source: CommitSource,
  filter: string,
  range: { first: number; last: number; page: number },
): AsyncGenerator<StoredCommit> {
  for (let fromSeq = range.first; fromSeq <= range.last; ) {
    const page = await source.readPage({ fromSeq, max: range.page, filter });
    for (const stored of page.commits) {
      if (stored.streamSeq > range.last) return;
      yield stored;
    }
    if (page.end) return;
    fromSeq = page.nextSeq;
  }
}
