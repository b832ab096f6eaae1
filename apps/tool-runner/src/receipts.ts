import type { ToolResult } from '@rookery/protocol';
import { type Database, openDatabase } from '@rookery/read-model';

/** How long a receipt is kept, in milliseconds. */
export const RECEIPT_MS = 24 * 60 * 60 * 1000;

/** What tells one tool call from another. */
export interface CallKey {
  readonly itemId: string;
  readonly toolName: string;
  readonly argsSha256: string;
}

/** Where a call that was begun belongs, so that its outcome can be found again. */
export interface BegunCall extends CallKey {
  readonly callId: string;
  readonly threadId: string;
  readonly runId: string;
}

/** What is on record of a tool call. */
export type Receipt = CallKey &
  ({ readonly state: 'running' | 'lost' } | { readonly state: 'done'; readonly result: ToolResult });

interface Row {
  readonly itemId: string;
  readonly toolName: string;
  readonly argsSha256: string;
  readonly state: 'running' | 'done' | 'lost';
  readonly result: string | null;
}

const TABLE = `
  create table if not exists receipts (
    itemId text primary key,
    toolName text not null,
    argsSha256 text not null,
    callId text not null,
    threadId text not null,
    runId text not null,
    boot text not null,
    state text not null check (state in ('running', 'done', 'lost')),
    result text check ((result is null) = (state <> 'done')),
    startedAt integer not null
  ) strict, without rowid`;

/**
 * The receipts of tool calls: one row a call, on disk before its effect. A file of its own that is synced with every
 * write, since no journal could give it back.
 */
export class Receipts {
  readonly #db: Database;
  readonly #boot: string;

  /** Opens or makes the file, or takes one that is open. `boot` names this start of the runner. */
  constructor(source: string | Database, boot: string) {
    this.#db = typeof source === 'string' ? openDatabase(source, { synchronous: 'FULL' }) : source;
    this.#db.exec(TABLE);
    this.#boot = boot;
  }

  /** The receipt of a call, or null. */
  find(itemId: string): Receipt | null {
    const row = this.#db
      .prepare<[string], Row>('select itemId, toolName, argsSha256, state, result from receipts where itemId = ?')
      .get(itemId);
    if (row === undefined) return null;
    const { toolName, argsSha256, state, result } = row;
    if (state !== 'done') return { itemId, toolName, argsSha256, state };
    return { itemId, toolName, argsSha256, state, result: JSON.parse(result ?? '') as ToolResult };
  }

  /** Puts on record that a call begins. Throws if there is a receipt of it. */
  begin(call: BegunCall, startedAt: number): void {
    this.#insert(call, 'running', null, startedAt);
  }

  /** Puts the result of a begun call on record. */
  finish(itemId: string, result: ToolResult): void {
    this.#db
      .prepare("update receipts set state = 'done', result = ? where itemId = ?")
      .run(JSON.stringify(result), itemId);
  }

  /** Puts a call and its result on record at once: enough for one that may run again. */
  store(call: BegunCall, result: ToolResult, startedAt: number): void {
    this.#insert(call, 'done', JSON.stringify(result), startedAt);
  }

  /** The calls that an earlier start of the runner left running. */
  interrupted(): BegunCall[] {
    return this.#db
      .prepare<[string], BegunCall>(
        "select itemId, toolName, argsSha256, callId, threadId, runId from receipts where state = 'running' and boot <> ?",
      )
      .all(this.#boot);
  }

  /** Settles a call of which nobody can tell any more what it has done. */
  lose(itemId: string): void {
    this.#db.prepare("update receipts set state = 'lost' where itemId = ? and state = 'running'").run(itemId);
  }

  /** Takes back the receipt of a call that is known to have done nothing. */
  forget(itemId: string): void {
    this.#db.prepare('delete from receipts where itemId = ?').run(itemId);
  }

  /** Removes receipts that are older than 24 hours. */
  prune(now: number): void {
    this.#db.prepare("delete from receipts where startedAt < ? and state <> 'running'").run(now - RECEIPT_MS);
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  #insert(call: BegunCall, state: 'running' | 'done', result: string | null, startedAt: number): void {
    this.#db
      .prepare(
        `insert into receipts (itemId, toolName, argsSha256, callId, threadId, runId, boot, state, result, startedAt)
         values (@itemId, @toolName, @argsSha256, @callId, @threadId, @runId, @boot, @state, @result, @startedAt)`,
      )
      .run({ ...pick(call), boot: this.#boot, state, result, startedAt });
  }
}

function pick({ itemId, toolName, argsSha256, callId, threadId, runId }: BegunCall): BegunCall {
  return { itemId, toolName, argsSha256, callId, threadId, runId };
}
