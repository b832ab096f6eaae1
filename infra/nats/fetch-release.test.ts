import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cachedBinary } from './cache.ts';
import { archiveName, checksumOf, fetchRelease, releaseVersion } from './fetch-release.ts';
import { locateServer } from './locate.ts';

let folder: string;
let server: Server;
let base: string;
let files: Record<string, Buffer | string>;
const name = `nats-server-v${releaseVersion}-linux-amd64`;

/** An archive laid out as the official ones, with a program that only knows its version. */
async function archive(version: string): Promise<Buffer> {
  const inside = join(folder, 'make', name);
  await mkdir(inside, { recursive: true });
  await writeFile(join(inside, 'nats-server'), `#!/bin/sh\necho 'nats-server: v${version}'\n`);
  await chmod(join(inside, 'nats-server'), 0o755);
  spawnSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', join(folder, 'make'), name]);
  return readFile(join(folder, 'a.tar.gz'));
}

const sums = (bytes: Buffer) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}.tar.gz\n`;
const fetchIt = () =>
  fetchRelease({ base, env: { XDG_CACHE_HOME: join(folder, 'cache') }, platform: 'linux', arch: 'x64' });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-release-'));
  files = {};
  server = createServer((request, response) => {
    const body = files[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

it('puts a release with the published checksum into the cache', async () => {
  const bytes = await archive(releaseVersion);
  files = { [`/v${releaseVersion}/SHA256SUMS`]: sums(bytes), [`/v${releaseVersion}/${name}.tar.gz`]: bytes };
  const path = await fetchIt();
  expect(path).toBe(cachedBinary({ XDG_CACHE_HOME: join(folder, 'cache') }));
  expect((await stat(path)).mode & 0o111).toBe(0o111);
  const { found } = await locateServer({ XDG_CACHE_HOME: join(folder, 'cache'), PATH: '' });
  expect(found).toMatchObject({ path, origin: 'cache' });
});

it('refuses an archive that differs from its checksum and leaves nothing', async () => {
  const bytes = await archive(releaseVersion);
  const changed = Buffer.concat([bytes, Buffer.from('x')]);
  files = { [`/v${releaseVersion}/SHA256SUMS`]: sums(bytes), [`/v${releaseVersion}/${name}.tar.gz`]: changed };
  await expect(fetchIt()).rejects.toMatchObject({ code: 'NATS_MISSING', message: expect.stringContaining('checksum') });
  await expect(stat(join(folder, 'cache/rookery/nats/nats-server'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('refuses where the archive is not in SHA256SUMS, or an older server is in it', async () => {
  const bytes = await archive('2.10.27');
  files = { [`/v${releaseVersion}/SHA256SUMS`]: '', [`/v${releaseVersion}/${name}.tar.gz`]: bytes };
  await expect(fetchIt()).rejects.toMatchObject({ code: 'NATS_MISSING' });
  files[`/v${releaseVersion}/SHA256SUMS`] = sums(bytes);
  await expect(fetchIt()).rejects.toMatchObject({ message: expect.stringContaining('2.15 or newer') });
});

it('says which address did not answer', async () => {
  await expect(fetchIt()).rejects.toMatchObject({ code: 'NATS_MISSING', message: expect.stringContaining('404') });
});

it('names archives of Linux and macOS', () => {
  expect(archiveName('linux', 'x64', '2.15.1')).toBe('nats-server-v2.15.1-linux-amd64.tar.gz');
  expect(archiveName('darwin', 'arm64', '2.15.1')).toBe('nats-server-v2.15.1-darwin-arm64.tar.gz');
  expect(archiveName('win32', 'x64')).toBeNull();
  expect(archiveName('linux', 's390')).toBeNull();
});

it('reads checksum lines in both forms', () => {
  const hex = 'a'.repeat(64);
  expect(checksumOf(`${hex}  one.tar.gz\n${'b'.repeat(64)} *two.zip\n`, 'two.zip')).toBe('b'.repeat(64));
  expect(checksumOf(`${hex}  one.tar.gz\n`, 'one.tar')).toBeNull();
});
