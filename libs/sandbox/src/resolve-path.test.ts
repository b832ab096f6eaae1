import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_PATH_CHARACTERS, refusePathText, resolvePath } from './resolve-path.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'resolve-path-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function resolved(text: string, workspaceRoot = root): Promise<string> {
  const outcome = await resolvePath(text, { workspaceRoot, userHome: join(root, 'me') });
  return outcome.ok ? outcome.path : outcome.code;
}

describe('resolvePath', () => {
  it('takes relative texts from the workspace and leaves absolute ones', async () => {
    expect(await resolved('a/./b//c')).toBe(join(root, 'a/b/c'));
    expect(await resolved('/etc/../etc/hosts')).toBe(realpathSync('/etc/hosts'));
    expect(await resolved('../..//')).toBe(join(root, '../..'));
  });

  it('expands a leading tilde and no other', async () => {
    expect(await resolved('~')).toBe(join(root, 'me'));
    expect(await resolved('~/notes')).toBe(join(root, 'me/notes'));
    expect(await resolved('~other/notes')).toBe(join(root, '~other/notes'));
    expect(await resolved('a/~')).toBe(join(root, 'a/~'));
  });

  it('follows links to files, to folders, and to what does not exist yet', async () => {
    mkdirSync(join(root, 'real/deep'), { recursive: true });
    writeFileSync(join(root, 'real/file'), '');
    symlinkSync(join(root, 'real/file'), join(root, 'file-link'));
    symlinkSync('real/deep', join(root, 'dir-link'));
    symlinkSync('real/nothing', join(root, 'dangling'));
    expect(await resolved('file-link')).toBe(join(root, 'real/file'));
    expect(await resolved('dir-link/new/file')).toBe(join(root, 'real/deep/new/file'));
    expect(await resolved('dangling')).toBe(join(root, 'real/nothing'));
  });

  it('takes .. from the target of a link, as the kernel does', async () => {
    mkdirSync(join(root, 'real/deep'), { recursive: true });
    symlinkSync('real/deep', join(root, 'link'));
    expect(await resolved('link/../x')).toBe(join(root, 'real/x'));
  });

  it('looks again for links after .. has left a missing folder', async () => {
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    expect(await resolved('missing/../link/x')).toBe(join(root, 'real/x'));
  });

  it('refuses a loop of links', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(await resolved('a')).toBe('invalid_path');
  });

  it('refuses a workspace that is not absolute', async () => {
    expect(await resolved('a', 'somewhere')).toBe('invalid_workspace');
  });

  it('agrees with realpath for whatever exists', async () => {
    mkdirSync(join(root, 'x/y/z'), { recursive: true });
    symlinkSync('../x', join(root, 'x/up'));
    symlinkSync(join(root, 'x/y'), join(root, 'x/y/self'));
    const part = fc.constantFrom('x', 'y', 'z', 'up', 'self', '.');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const text = parts.join('/') || '.';
        let real: string;
        try {
          real = realpathSync(join(root, text));
        } catch {
          return;
        }
        expect(await resolved(text)).toBe(real);
      }),
    );
  });
});

describe('refusePathText', () => {
  it('accepts 4,096 characters and refuses one more', () => {
    expect(refusePathText('a'.repeat(MAX_PATH_CHARACTERS))).toBeNull();
    expect(refusePathText('a'.repeat(MAX_PATH_CHARACTERS + 1))).not.toBeNull();
    expect(refusePathText('😀'.repeat(MAX_PATH_CHARACTERS))).toBeNull();
  });

  it('refuses an empty text and a NUL', () => {
    expect(refusePathText('')).not.toBeNull();
    expect(refusePathText('a\0b')).not.toBeNull();
  });
});
