import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Generations of a read model's file. The first is the file itself (`state.db`); one that was built while its forerunner
 * served is `state.<n>.db`, and a pointer file beside it (`state.db.current`) names the one in force. A file is never
 * renamed over a living one: SQLite would replay the old log over it and call the result sound.
 */

const SUFFIXES = ['', '-wal', '-shm'];
const pointerOf = (base: string): string => `${base}.current`;

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Matches the names of later generations of a base file, with the number in the first group. */
function generationNames(base: string): RegExp {
  const name = basename(base);
  const stem = name.endsWith('.db') ? name.slice(0, -3) : name;
  return new RegExp(`^${escaped(stem)}\\.(\\d{1,9})\\.db$`);
}

const numberOf = (base: string, path: string): number => Number(generationNames(base).exec(basename(path))?.[1] ?? 0);

/** The file in force of a read model, by its base file `<dir>/<file>`. */
export function currentFile(base: string): string {
  let name: string;
  try {
    name = readFileSync(pointerOf(base), 'utf8').trim();
  } catch {
    return base;
  }
  return generationNames(base).test(name) ? join(dirname(base), name) : base;
}

/** Path of the generation that follows a file. */
export function nextFile(base: string, current: string): string {
  const name = basename(base);
  const stem = name.endsWith('.db') ? name.slice(0, -3) : name;
  return join(dirname(base), `${stem}.${numberOf(base, current) + 1}.db`);
}

/** Removes a database file and its side files. Nobody may have it open any more. */
export function removeFile(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}

/** Moves a database file that nobody has open, with its side files, over what was kept under that name before. */
export function keepFileAs(path: string, aside: string): void {
  removeFile(aside);
  for (const suffix of SUFFIXES) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Puts a file in force: whoever opens the read model from now on gets it, also after a loss of power. */
export function pointTo(base: string, path: string): void {
  const pointer = pointerOf(base);
  const draft = `${pointer}.tmp`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${basename(path)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, pointer);
  syncFolder(dirname(base));
}

/** Removes what a rebuild left that was cut short before or after its pointer. Nobody may use the read model. */
export function removeLeftovers(base: string): void {
  const current = currentFile(base);
  const generations = generationNames(base);
  rmSync(`${pointerOf(base)}.tmp`, { force: true });
  if (current !== base) removeFile(base);
  const folder = dirname(base);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = name.replace(/-(wal|shm)$/, '');
    if (generations.test(file) && join(folder, file) !== current) rmSync(join(folder, name), { force: true });
  }
}
