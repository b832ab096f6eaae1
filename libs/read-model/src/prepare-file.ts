import { existsSync } from 'node:fs';
import type { Projection } from '@rookery/kernel';
import { createTables, fileVersion, readVersion } from './bookkeeping.ts';
import { type Database, isCorruption, openDatabase } from './database.ts';
import { keepFileAs, removeFile } from './generations.ts';

/** Why a read model starts from an empty file. */
export type RebuildReason = 'new' | 'version' | 'corrupt';

export interface PreparedFile {
  db: Database;
  /** Null where the file goes on from its checkpoint. */
  rebuilt: RebuildReason | null;
}

function isSound(db: Database): boolean {
  return db.pragma('quick_check(1)', { simple: true }) === 'ok';
}

/** Opens an existing file; the reason where it cannot be used, and then it is closed. */
function openExisting(path: string, projection: Projection): Database | 'version' | 'corrupt' {
  let db: Database | null = null;
  try {
    db = openDatabase(path, { synchronous: 'NORMAL' });
    if (!isSound(db)) {
      db.close();
      return 'corrupt';
    }
    if (readVersion(db) === fileVersion(projection)) return db;
    db.close();
    return 'version';
  } catch (error) {
    db?.close();
    if (isCorruption(error)) return 'corrupt';
    throw error;
  }
}

/**
 * Opens the file of a read model for writing. A file of another version is removed, an unsound one is moved to
 * `<path>.corrupt`; both are built anew from the journal. Nobody else may have the file open.
 */
export function prepareFile(
  path: string,
  projection: Projection,
  /** suspect: an error was met in it. unclean: its last process was killed, so its write-ahead log must be there. */
  { suspect = false, unclean = false }: { suspect?: boolean; unclean?: boolean } = {},
): PreparedFile {
  let rebuilt: RebuildReason = 'new';
  if (existsSync(path)) {
    const found = suspect || (unclean && !existsSync(`${path}-wal`)) ? 'corrupt' : openExisting(path, projection);
    if (typeof found !== 'string') return { db: found, rebuilt: null };
    rebuilt = found;
    if (found === 'corrupt') keepFileAs(path, `${path}.corrupt`);
    else removeFile(path);
  } else {
    // Side files of a file that is gone would be read as its own.
    removeFile(path);
  }
  const db = openDatabase(path, { synchronous: 'NORMAL' });
  createTables(db, projection);
  return { db, rebuilt };
}
