import i18next from 'i18next';
import { mergeTurns } from '../state/merge-turns.ts';
import { journal, patchUi, ui } from '../state/stores.ts';
import type { Thread } from '../wire/types.ts';
import { liveEvents } from './live-events.ts';
import { request } from './rpc.ts';
import { codeOf, showError, showToast } from './toasts.ts';

const loading = new Set<string>();

function putThreads(threads: readonly Thread[]): void {
  journal.set((state) => {
    const known = { ...state.threads };
    for (const thread of threads) {
      const now = known[thread.id];
      // An event may have been faster than the list.
      if (!now || now.updatedAt <= thread.updatedAt) known[thread.id] = thread;
    }
    return { ...state, threads: known };
  });
}

/** Loads the next page of active threads; returns the seq that it stands at. */
export async function loadThreads(cursor: string | null = null): Promise<number> {
  const page = await request('thread.list', cursor === null ? { limit: 100 } : { limit: 100, cursor });
  putThreads(page.threads);
  patchUi({ threadCursor: page.hasMore ? page.nextCursor : null });
  return page.snapshotSeq;
}

/** Loads the newest page of archived threads, or with `older` the page behind those that are there. */
export async function loadArchived(older = false): Promise<void> {
  const { archived, archivedCursor } = ui.get();
  const cursor = older ? archivedCursor : null;
  try {
    const page = await request('thread.list', { archived: true, limit: 100, ...(cursor ? { cursor } : {}) });
    const known = new Set(cursor ? archived?.map((thread) => thread.id) : []);
    const added = page.threads.filter((thread) => !known.has(thread.id));
    patchUi({
      archived: [...(cursor ? (ui.get().archived ?? []) : []), ...added],
      archivedCursor: page.hasMore ? page.nextCursor : null,
    });
  } catch (error) {
    showError(error);
  }
}

/** Opens a thread, or the start page for null; the address keeps it over a reload. */
export function selectThread(threadId: string | null): void {
  const hash = threadId ? `#/t/${threadId}` : '#/';
  if (location.hash !== hash) history.pushState(null, '', hash);
  showSelected(threadId);
}

export function showSelected(threadId: string | null): void {
  patchUi({ selected: threadId, drawer: false });
  if (threadId && ui.get().loaded && !journal.get().conversations[threadId]) void loadConversation(threadId);
}

/** The thread that the address names. */
export function threadInAddress(): string | null {
  return /^#\/t\/([\w-]{1,200})$/.exec(location.hash)?.[1] ?? null;
}

/** Loads the newest turns of a thread, or with `older` the page before those that are there. */
export async function loadConversation(threadId: string, older = false): Promise<void> {
  if (loading.has(threadId)) return;
  loading.add(threadId);
  const { [threadId]: _gone, ...loadErrors } = ui.get().loadErrors;
  patchUi({ loadErrors });
  try {
    const thread = journal.get().threads[threadId] ?? (await request('thread.get', { threadId })).thread;
    putThreads([thread]);
    const cursor = older ? journal.get().conversations[threadId]?.nextCursor : null;
    const page = await request('turn.list', {
      threadId,
      branchId: thread.defaultBranchId,
      limit: 50,
      ...(cursor ? { cursor } : {}),
    });
    liveEvents.flush();
    journal.set((state) => mergeTurns(state, threadId, page, liveEvents.recent));
  } catch (error) {
    patchUi({ loadErrors: { ...ui.get().loadErrors, [threadId]: codeOf(error) } });
  } finally {
    loading.delete(threadId);
  }
}

/** Makes a thread in a folder, or for null in a folder of its own; returns it. */
export async function createThread(title: string | null, folder: string | null, requestId: string): Promise<Thread> {
  const { thread } = await request('thread.create', {
    title,
    clientRequestId: requestId,
    ...(folder ? { workspace: { rootUri: folder, kind: 'project' } } : {}),
  });
  putThreads([thread]);
  return thread;
}

export async function renameThread(threadId: string, title: string | null): Promise<void> {
  try {
    putThreads([(await request('thread.rename', { threadId, title })).thread]);
  } catch (error) {
    showError(error);
  }
}

/** Archives a thread and offers to undo it. */
export async function archiveThread(threadId: string): Promise<void> {
  try {
    const { thread } = await request('thread.archive', { threadId });
    putThreads([thread]);
    const { archived } = ui.get();
    if (archived) patchUi({ archived: [thread, ...archived.filter((one) => one.id !== threadId)] });
    if (ui.get().selected === threadId) selectThread(null);
    showToast({
      text: i18next.t('thread.archived'),
      tone: 'plain',
      action: { label: i18next.t('undo'), run: () => void unarchiveThread(threadId) },
    });
  } catch (error) {
    showError(error);
  }
}

export async function unarchiveThread(threadId: string): Promise<void> {
  try {
    putThreads([(await request('thread.unarchive', { threadId })).thread]);
    const { archived } = ui.get();
    if (archived) patchUi({ archived: archived.filter((one) => one.id !== threadId) });
  } catch (error) {
    showError(error);
  }
}
