import type { Violation } from './checker.ts';
import type { HistoryCommit } from './fold.ts';
import type { Fact, Operation } from './recorder.ts';

const keyOf = ({ stream, type, where }: Fact): string => JSON.stringify([stream, type, Object.entries(where).sort()]);

function valueAt(payload: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], payload);
}

function count(fact: Fact, commits: readonly HistoryCommit[]): number {
  let found = 0;
  for (const { events } of commits) {
    for (const { type, payload } of events) {
      if (type === fact.type && Object.entries(fact.where).every(([path, value]) => valueAt(payload, path) === value))
        found += 1;
    }
  }
  return found;
}

/**
 * Acknowledged is stored, once; refused is not stored; unknown may be either, but never twice. Attempts that ask for
 * the same fact (retries) count together.
 */
export function checkOperations(
  operations: readonly Operation[],
  streams: Readonly<Record<Fact['stream'], readonly HistoryCommit[]>>,
): Violation[] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = keyOf(operation.fact);
    groups.set(key, [...(groups.get(key) ?? []), operation]);
  }
  const out: Violation[] = [];
  for (const [key, attempts] of groups) {
    const [first] = attempts;
    if (first === undefined) continue;
    const found = count(first.fact, streams[first.fact.stream]);
    const outcomes = new Set(attempts.map(({ outcome }) => outcome));
    const told = [...outcomes].join(', ');
    if (found > 1) out.push({ rule: 'stored-once', detail: `${first.name} ${key} stands ${found} times (${told})` });
    if (outcomes.has('ok') && found === 0) {
      out.push({ rule: 'acknowledged-stored', detail: `${first.name} ${key} was acknowledged and is not there` });
    }
    if (outcomes.size === 1 && outcomes.has('failed') && found > 0) {
      out.push({ rule: 'refused-absent', detail: `${first.name} ${key} was refused and is there` });
    }
  }
  return out;
}
