import { COMMIT_VERSION, canonicalSha256, type StoredCommit } from '@rookery/protocol';

export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

/**
 * One change of a read model, as data. Everything is known from the commit alone: nothing is read first.
 *
 * - `insert` and `upsert` write `key` and `set` as one row; `key` of an upsert names the columns of a unique index.
 * - `update` and `delete` touch every row that has all values of `key`, which may be a part of the primary key.
 * - `add` adds to numbers and `append` to texts that are there; in a row that an upsert makes they are the first values.
 */
export interface Write {
  table: string;
  op: 'insert' | 'upsert' | 'update' | 'delete';
  key: SqlRow;
  set?: SqlRow;
  add?: Record<string, number>;
  append?: Record<string, string>;
}

/** A read model: its tables and how a commit changes them. */
export interface Projection {
  name: string;
  /** SHA-256 of all that decides the rows; a file made by another version is rebuilt. */
  version: string;
  ddl: readonly string[];
  /** Tables whose rows need not be written when the same transaction deletes them again. */
  transient: readonly string[];
  /** Pure. A throw means that the commit contradicts itself: its thread is quarantined from there. */
  project(stored: StoredCommit): Write[];
}

export interface ProjectionDefinition {
  name: string;
  /** Raised with every change of `project` that gives other rows for the same commits. */
  revision: number;
  ddl: readonly string[];
  transient?: readonly string[];
  project(stored: StoredCommit): Write[];
}

/** Completes a definition with its version: the hash of its DDL, its revision and the journal version it reads. */
export function defineProjection(definition: ProjectionDefinition): Projection {
  const { name, revision, ddl, project, transient = [] } = definition;
  const version = canonicalSha256({ name, revision, ddl, journal: COMMIT_VERSION });
  return { name, version, ddl, transient, project };
}
