import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { natsCacheFolder } from './cache.ts';
import { install } from './fetch-debian.ts';
import { runCommand } from './run.ts';

/** The release that is fetched where no package of the distribution will do. */
export const releaseVersion = '2.15.1';

const officialBase = 'https://github.com/nats-io/nats-server/releases/download';

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64', arm: 'arm7', ppc64: 'ppc64le' };

/** Name of the official archive for a platform of Node; null where there is none. */
export function archiveName(platform: string, arch: string, version = releaseVersion): string | null {
  const cpu = architectures[arch];
  if (cpu === undefined || (platform !== 'linux' && platform !== 'darwin')) return null;
  return `nats-server-v${version}-${platform}-${cpu}.tar.gz`;
}

/** The SHA-256 that a SHA256SUMS file gives for a name; null where the name is not in it. */
export function checksumOf(sums: string, name: string): string | null {
  for (const line of sums.split('\n')) {
    const match = /^([0-9a-f]{64})[ \t]+\*?(\S+)$/i.exec(line.trim());
    if (match?.[2] === name) return match[1]?.toLowerCase() ?? null;
  }
  return null;
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) }).catch((error: unknown) => {
    throw new AppError('NATS_MISSING', { message: `${url} cannot be reached.`, cause: error });
  });
  if (!response.ok) throw new AppError('NATS_MISSING', { message: `${url} answered ${response.status}.` });
  return Buffer.from(await response.arrayBuffer());
}

/**
 * Gets the official release archive into the cache, checked against the SHA256SUMS published with it.
 * NATS_MISSING where there is none for this platform, it cannot be had, or the checksum differs.
 */
export async function fetchRelease(
  options: { base?: string; env?: NodeJS.ProcessEnv; platform?: string; arch?: string } = {},
): Promise<string> {
  const { platform = process.platform, arch = process.arch, env = process.env } = options;
  const name = archiveName(platform, arch);
  if (name === null) throw new AppError('NATS_MISSING', { message: `There is no release for ${platform} ${arch}.` });
  const folderUrl = `${options.base ?? officialBase}/v${releaseVersion}`;
  const expected = checksumOf((await download(`${folderUrl}/SHA256SUMS`)).toString('utf8'), name);
  if (expected === null) throw new AppError('NATS_MISSING', { message: `SHA256SUMS does not name ${name}.` });
  const archive = await download(`${folderUrl}/${name}`);
  if (createHash('sha256').update(archive).digest('hex') !== expected) {
    throw new AppError('NATS_MISSING', { message: `${name} does not have the checksum that was published with it.` });
  }
  const cache = natsCacheFolder(env);
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetch-'));
  try {
    await writeFile(join(folder, name), archive);
    const { code, stderr } = await runCommand('tar', ['-xzf', name, '--strip-components=1'], { cwd: folder });
    if (code !== 0) throw new Error(`tar: ${stderr.trim()}`);
    return await install(join(folder, 'nats-server'), cache);
  } catch (error) {
    throw new AppError('NATS_MISSING', { message: `${name}: ${error instanceof Error ? error.message : error}.` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
