import type { Bus } from '@rookery/bus';
import type { Projection } from '@rookery/kernel';
import { type AppError, toAppError } from '@rookery/protocol';
import Sqlite from 'better-sqlite3';
import { createTables, readCheckpoint } from '../bookkeeping.ts';
import type { Database } from '../database.ts';
import { digest } from '../digest.ts';
import { ThreadedReadModel } from '../open-read-model.ts';
import { Projector } from '../projector.ts';
import type { ReadModel, ReadModelOptions } from '../read-model.ts';
import { ReadConnection } from '../reader.ts';
import type { FromWorker, ToWorker } from '../worker-messages.ts';

/** Files that are not in use, by projection: to make the tables takes longer than all that follows. */
const unused = new Map<string, Database[]>();

function createFile(projection: Projection): Database {
  const db = new Sqlite(':memory:');
  db.pragma('foreign_keys = ON');
  createTables(db, projection);
  const { prepare } = db;
  const statements = new Map<string, Sqlite.Statement>();
  // Each process that opens the file would prepare the same statements again.
  db.prepare = ((sql: string) => {
    const known = statements.get(sql) ?? prepare.call(db, sql);
    statements.set(sql, known);
    return known;
  }) as typeof db.prepare;
  // Whoever has it open closes it; it outlives them all.
  db.close = () => db;
  return db;
}

/** Makes a file as if nothing had ever been applied to it. */
function empty(db: Database): void {
  db.pragma('foreign_keys = OFF');
  const tables = db.prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`).all();
  for (const { name } of tables) if (name !== 'checkpoint') db.prepare(`DELETE FROM "${name}"`).run();
  db.prepare(
    `UPDATE checkpoint SET stream_created = NULL, journal_id = NULL, applied_seq = 0, last_seq = NULL, last_id = NULL,
     previous_seq = NULL, previous_id = NULL, applied_count = 0, foreign_count = 0, skipped_count = 0`,
  ).run();
  db.pragma('foreign_keys = ON');
}

/** The file of a read model, in memory: what was committed outlives the process that wrote it. */
export class MemoryFile {
  readonly db: Database;
  readonly #version: string;

  constructor(projection: Projection) {
    this.#version = projection.version;
    this.db = unused.get(projection.version)?.pop() ?? createFile(projection);
  }

  appliedSeq(): number {
    return readCheckpoint(this.db).appliedSeq;
  }

  /** Digests of all tables; see `digest`. */
  digest(): Record<string, string> {
    return digest(this.db);
  }

  /** Ends its use; nothing may hold it any longer. */
  remove(): void {
    if (this.db.inTransaction) this.db.exec('ROLLBACK');
    empty(this.db);
    unused.set(this.#version, [...(unused.get(this.#version) ?? []), this.db]);
  }
}

export interface MemoryReadModel extends Pick<ReadModelOptions, 'projection' | 'onState'> {
  file: MemoryFile;
  /** The projector's own connection. */
  connect(): Promise<Bus>;
  /** Carries what the two threads of a read model say to each other, in order. */
  carry(deliver: () => void): void;
}

/** A read model as a service has it, with both of its threads in this one and its file in memory. */
export async function openMemoryReadModel(options: MemoryReadModel): Promise<ReadModel<unknown>> {
  const { projection, file, carry } = options;
  const nowhere = { url: '', user: '', seed: '', name: '' };
  const model = new ThreadedReadModel<unknown>(
    { dir: '', projection, connection: nowhere, ...(options.onState ? { onState: options.onState } : {}) },
    '',
    () => undefined,
    {
      openReader: () => new ReadConnection(file.db),
      startProjector: (data, events) => {
        let stopped = false;
        const post = (message: FromWorker) =>
          carry(() => {
            if (!stopped) events.onMessage(message);
          });
        const projector = new Projector(data, projection, post, {
          prepare: () => ({ db: file.db, rebuilt: null }),
          connect: options.connect,
        });
        const end = (error: AppError) => post({ type: 'ended', error: error.toBody() });
        projector.start().catch((error: unknown) => end(toAppError(error)));
        const take = (message: ToWorker) => {
          if (message.type === 'taken') projector.taken(message.bytes);
          else if (message.type === 'last') {
            projector.lastSeq().then(
              (lastSeq) => post({ type: 'last', id: message.id, lastSeq }),
              (error: unknown) => post({ type: 'refused', id: message.id, error: toAppError(error).toBody() }),
            );
          }
        };
        return {
          post: (message) => carry(() => take(message)),
          stop: async () => {
            stopped = true;
            await projector.stop();
          },
        };
      },
    },
  );
  await model.start({ suspect: false, unclean: false });
  return model;
}
