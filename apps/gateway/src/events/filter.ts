import {
  canonicalJson,
  type EventFilter,
  isSubjectToken,
  matchesFilter,
  subjectFilters,
  threadFilter,
} from '@rookery/protocol';

/** Types that are decided on the subjects of submissions only. */
const ON_TURNS = new Set(['thread.created', 'thread.renamed', 'thread.archived', 'thread.unarchived']);

const sortedUnique = (values: string[] | undefined) => (values === undefined ? undefined : [...new Set(values)].sort());

/** The same filter however it was written; null = all conversation events. */
export function normalFilter(filter: EventFilter | null | undefined): EventFilter | null {
  const threadIds = sortedUnique(filter?.threadIds);
  const types = sortedUnique(filter?.types);
  if (threadIds === undefined && types === undefined) return null;
  return { ...(threadIds && { threadIds }), ...(types && { types }) };
}

export function filterKey(filter: EventFilter | null): string {
  return canonicalJson(filter);
}

export function matches(event: { type: string; threadId: string | null }, filter: EventFilter | null): boolean {
  return matchesFilter(event.type, event.threadId, filter);
}

/** The narrowest subject filter of the journal that still holds everything that a filter lets through. */
export function subjectOf(filter: EventFilter | null, world: string): string {
  const [only, ...others] = filter?.threadIds ?? [];
  if (only !== undefined && others.length === 0 && isSubjectToken(only)) return threadFilter(world, only);
  if (filter?.types?.every((type) => ON_TURNS.has(type))) return subjectFilters.turns;
  return subjectFilters.threads;
}
