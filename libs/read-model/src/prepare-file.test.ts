import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conversationProjection, defineProjection } from '@rookery/kernel';
import { encodeStored, sampleConversation, temporaryFolder } from '@rookery/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { Applier } from './applier.ts';
import { prepareFile } from './prepare-file.ts';

const folder = await temporaryFolder('prepare');
afterAll(() => folder.remove());
const journal = sampleConversation().map(encodeStored);
let files = 0;

/** A file with some rows; `crashed` leaves it as a killed process does. */
function built(crashed = false): string {
  files += 1;
  const path = join(folder.path, `${files}`, 'state.db');
  const { db, rebuilt } = prepareFile(path, conversationProjection);
  expect(rebuilt).toBe('new');
  new Applier(db, conversationProjection).apply(journal);
  if (!crashed) db.close();
  return path;
}

function reopen(path: string, ...rest: [Parameters<typeof prepareFile>[2]?, Parameters<typeof prepareFile>[1]?]) {
  const [found, projection = conversationProjection] = rest;
  const { db, rebuilt } = prepareFile(path, projection, found);
  const applied = new Applier(db, projection).checkpoint.appliedSeq;
  db.close();
  return { rebuilt, applied };
}

describe('a file of a read model', () => {
  it('goes on from its checkpoint and is private', () => {
    const path = built();
    expect(reopen(path)).toEqual({ rebuilt: null, applied: journal.length });
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it.each([
    ['cut in the middle', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    [
      'noise in the middle',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 40_960), Buffer.alloc(8192, 0xa5), bytes.subarray(49_152)]),
    ],
    ['no database at all', () => Buffer.from('once upon a time, in a file far away'.repeat(200))],
  ])('is moved aside and begun anew: %s', (_name, damage) => {
    const path = built();
    writeFileSync(path, damage(readFileSync(path)));
    expect(reopen(path)).toEqual({ rebuilt: 'corrupt', applied: 0 });
    expect(existsSync(`${path}.corrupt`)).toBe(true);
  });

  it('is begun anew when its process was killed and its write-ahead log is gone', () => {
    const path = built(true);
    expect(existsSync(`${path}-wal`)).toBe(true);
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    expect(reopen(path, { unclean: true })).toEqual({ rebuilt: 'corrupt', applied: 0 });
  });

  it('is begun anew when an error was met in it', () => {
    expect(reopen(built(), { suspect: true })).toEqual({ rebuilt: 'corrupt', applied: 0 });
  });

  it('is begun anew by another version, and by a program that knows none', () => {
    const { name, ddl, project } = conversationProjection;
    const next = defineProjection({ name, ddl, project, revision: 999 });
    const path = built();
    expect(reopen(path, {}, next)).toEqual({ rebuilt: 'version', applied: 0 });
    expect(reopen(path)).toEqual({ rebuilt: 'version', applied: 0 });
    expect(existsSync(`${path}.corrupt`)).toBe(false);
  });
});
