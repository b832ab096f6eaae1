import type { Thread } from '../wire/types.ts';
import type { JournalState } from './model.ts';

/** What a thread is called in lists: its title, else the first words of its first message, else null. */
export function titleOf(thread: Thread, openings: JournalState['openings']): string | null {
  return thread.title ?? openings[thread.id] ?? null;
}

/** Active threads, the newest first; with a filter only those whose title has every word of it. */
export function listThreads(state: Pick<JournalState, 'threads' | 'openings'>, filter: string): Thread[] {
  const words = filter.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return Object.values(state.threads)
    .filter((thread) => thread.archivedAt === null)
    .filter((thread) => {
      if (words.length === 0) return true;
      const text = `${titleOf(thread, state.openings) ?? ''} ${thread.workspace?.name ?? ''}`.toLocaleLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id));
}
