import { type ClientHistory, checkClients } from './check-clients.ts';
import { checkCommits } from './check-commits.ts';
import { checkOperations } from './check-operations.ts';
import { checkRuns, type RunRules } from './check-runs.ts';
import { commitsOf } from './fold.ts';
import type { RawMessage } from './read-stream.ts';
import type { Operation } from './recorder.ts';

export interface Violation {
  rule: string;
  detail: string;
}

/** Digests by table of a read model as it lives, and of one made anew from the journal. */
export interface DigestPair {
  name: string;
  live: Readonly<Record<string, string>>;
  rebuilt: Readonly<Record<string, string>>;
}

export interface CheckedHistory {
  operations?: readonly Operation[];
  /** All of JOURNAL, in order. */
  journal: readonly RawMessage[];
  /** All of MEMORY, in order. */
  memory?: readonly RawMessage[];
  clients?: readonly ClientHistory[];
  readModelDigests?: readonly DigestPair[];
  /** A line for each time that a tool's effect happened, naming the call. */
  effects?: readonly string[];
  rules?: RunRules;
}

/**
 * Judges what happened, in the manner of Jepsen: from what clients asked and were told, and from the journal as it
 * stands. Gives every violation; none means that no promise was broken.
 */
export function checkHistory(history: CheckedHistory): Violation[] {
  const journal = commitsOf(history.journal);
  const memory = commitsOf(history.memory ?? []);
  return [
    ...checkCommits('JOURNAL', history.journal),
    ...checkCommits('MEMORY', history.memory ?? []),
    ...checkOperations(history.operations ?? [], { JOURNAL: journal, MEMORY: memory }),
    ...checkRuns(journal, history.rules ?? {}),
    ...(history.clients ?? []).flatMap((client) => checkClients(client, journal)),
    ...(history.readModelDigests ?? []).flatMap(checkDigests),
    ...checkEffects(history.effects ?? []),
  ];
}

function checkDigests({ name, live, rebuilt }: DigestPair): Violation[] {
  const tables = [...new Set([...Object.keys(live), ...Object.keys(rebuilt)])];
  if (tables.length === 0) return [{ rule: 'digest', detail: `${name}: no table` }];
  return tables
    .filter((table) => live[table] !== rebuilt[table])
    .map((table) => ({ rule: 'digest', detail: `${name}.${table} is not the fold of the journal` }));
}

function checkEffects(effects: readonly string[]): Violation[] {
  const seen = new Set<string>();
  const twice = effects.filter((effect) => seen.size === seen.add(effect).size);
  return twice.map((effect) => ({ rule: 'effect-once', detail: `${effect} ran twice` }));
}
