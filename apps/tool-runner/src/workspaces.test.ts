import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { PathLocks } from '@rookery/sandbox';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFolder } from './testing/tool-context.ts';
import { prepareWorkspace } from './workspaces.ts';

let root: string;
let now: Date;
beforeEach(() => {
  root = makeFolder();
  now = new Date(2026, 10, 30, 7, 8, 9);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const locks = new PathLocks();
const homeId = () => '0123456789abcdef0123456789abcdef';
const options = () => ({ homeId, runnerId: 'main', root: join(root, 'managed'), locks, now: () => now });
const project = (rootUri: string, other: { id?: string; name?: string } = {}) =>
  prepareWorkspace({ threadId: 'thread_1', workspace: { rootUri, ...other } }, options());
const managed = (threadId: string) => prepareWorkspace({ threadId, workspace: null }, options());

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}

it('takes an existing absolute folder as a project', async () => {
  mkdirSync(join(root, 'code'));
  const { id, ...rest } = await project(`${join(root, 'code')}/`);
  expect(rest).toEqual({ name: 'code', kind: 'project', rootUri: join(root, 'code') });
  expect(id).toMatch(/^workspace_[0-9a-f]{32}$/);
  expect((await project(join(root, 'code'))).id).toBe(id);
  expect(await project(root, { id: 'mine', name: 'My code' })).toMatchObject({ id: 'mine', name: 'My code' });
});

it('refuses what is no existing absolute folder', async () => {
  writeFileSync(join(root, 'file'), '');
  for (const rootUri of ['relative', join(root, 'missing'), join(root, 'file'), '~', `${root}\0`]) {
    expect([rootUri, await codeOf(project(rootUri))]).toEqual([rootUri, 'WORKSPACE_INVALID']);
  }
});

it('makes a managed folder by local date and time, and finds it again on a later day', async () => {
  const first = await managed('thread_00112233445566778899aabbccddeeff');
  const path = join(root, 'managed/2026-11-30/070809-ccddeeff');
  expect(first).toMatchObject({ kind: 'managed', rootUri: path, name: '070809-ccddeeff' });
  expect(statSync(path).isDirectory()).toBe(true);
  now = new Date(2026, 11, 2, 1, 1, 1);
  expect(await managed('thread_00112233445566778899aabbccddeeff')).toEqual(first);
  expect((await managed('thread_00112233445566778899aabb00000000')).rootUri).toBe(
    join(root, 'managed/2026-12-02/010101-00000000'),
  );
  expect(readdirSync(join(root, 'managed'))).toEqual(['2026-11-30', '2026-12-02']);
});

it('gives tries at the same time one folder', async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => managed('thread_1')));
  expect(new Set(all.map((workspace) => workspace.rootUri)).size).toBe(1);
});

it('refuses a thread whose id could lead elsewhere, and a root that cannot be made', async () => {
  expect(await codeOf(managed('thread/../..'))).toBe('INVALID_PARAMS');
  writeFileSync(join(root, 'managed'), '');
  expect(await codeOf(managed('thread_1'))).toBe('WORKSPACE_INVALID');
});
