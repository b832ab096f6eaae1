import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from '@rookery/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentFile, keepFileAs, nextFile, pointTo, removeLeftovers } from './generations.ts';

let folder: TemporaryFolder;
let base: string;

beforeEach(async () => {
  folder = await temporaryFolder('generations');
  base = join(folder.path, 'state.db');
});
afterEach(() => folder.remove());

const files = () => readdirSync(folder.path).sort();
const make = (...names: string[]) => {
  for (const name of names) writeFileSync(join(folder.path, name), name);
};

describe('the file in force', () => {
  it('is the first one until another one is pointed to', () => {
    expect(currentFile(base)).toBe(base);
    const first = nextFile(base, base);
    expect(first).toBe(join(folder.path, 'state.1.db'));
    pointTo(base, first);
    expect(currentFile(base)).toBe(first);
    const second = nextFile(base, first);
    pointTo(base, second);
    expect(currentFile(base)).toBe(join(folder.path, 'state.2.db'));
    expect(files()).toEqual(['state.db.current']);
  });

  it.each(['', 'state.db', '../state.1.db', '/etc/passwd', 'agent.1.db', 'state.1.db.suspect', 'state.x.db'])(
    'is the first one where the pointer says %j',
    (text) => {
      writeFileSync(`${base}.current`, text);
      expect(currentFile(base)).toBe(base);
    },
  );
});

describe('leftovers', () => {
  const side = (name: string) => [name, `${name}-wal`, `${name}-shm`];

  it('of a rebuild that was not put in force are removed, and nothing else', () => {
    const kept = [...side('state.db'), 'state.db.lock', 'state.db.suspect', 'state.db.corrupt', 'other.1.db'];
    make(...kept, ...side('state.1.db'), 'state.db.current.tmp');
    mkdirSync(join(folder.path, 'sources'));
    removeLeftovers(base);
    expect(files()).toEqual([...kept, 'sources'].sort());
  });

  it('of one that was are those before it', () => {
    make(...side('state.db'), ...side('state.1.db'), ...side('state.2.db'), 'state.db.lock');
    pointTo(base, join(folder.path, 'state.2.db'));
    removeLeftovers(base);
    expect(files()).toEqual([...side('state.2.db'), 'state.db.current', 'state.db.lock'].sort());
  });

  it('are none where there is no folder', () => {
    expect(() => removeLeftovers(join(folder.path, 'none', 'state.db'))).not.toThrow();
    expect(existsSync(join(folder.path, 'none'))).toBe(false);
  });
});

it('a file that is kept takes the place of the one before it, with its side files', () => {
  make('state.1.db', 'state.1.db-wal', 'state.db.suspect', 'state.db.suspect-shm');
  keepFileAs(join(folder.path, 'state.1.db'), `${base}.suspect`);
  expect(files()).toEqual(['state.db.suspect', 'state.db.suspect-wal']);
});
