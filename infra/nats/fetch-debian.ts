import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import {
  type AptSource,
  distributionSource,
  newestSuites,
  parseDeb822,
  parseOneLine,
  stanzaFor,
} from './apt-sources.ts';
import { natsCacheFolder } from './cache.ts';
import { runCommand } from './run.ts';
import { formatVersion, isSupported, parseVersion } from './version.ts';

/** What the machine says about its own distribution and archives; tests give their own. */
export interface DebianMachine {
  distribution: string;
  codename: string;
  sources: AptSource[];
}

/** Reads /etc/os-release and apt's own lists; null where this is not Debian or Ubuntu. */
export async function debianMachine(root = '/'): Promise<DebianMachine | null> {
  const release = await readFile(join(root, 'etc/os-release'), 'utf8').catch(() => '');
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1] ?? '';
  const distribution = field('ID');
  if (newestSuites(distribution) === null) return null;
  const folder = join(root, 'etc/apt/sources.list.d');
  const names = await readdir(folder).catch((): string[] => []);
  const files = [join(root, 'etc/apt/sources.list'), ...names.sort().map((name) => join(folder, name))];
  const sources: AptSource[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (file.endsWith('.sources')) sources.push(...parseDeb822(text));
    else if (file.endsWith('.list')) sources.push(...parseOneLine(text));
  }
  return { distribution, codename: field('VERSION_CODENAME'), sources };
}

/** Arguments that keep apt's lists, cache and sources inside one folder; its trust and proxy settings stay. */
function privateApt(folder: string): string[] {
  const options = {
    'Dir::Etc::SourceList': '/dev/null',
    'Dir::Etc::SourceParts': join(folder, 'sources'),
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
  };
  return Object.entries(options).flatMap(([name, value]) => (value === '' ? [] : ['-o', `${name}=${value}`]));
}

async function fromSuite(source: AptSource, suite: string, components: string[], folder: string): Promise<string> {
  for (const name of ['sources', 'lists/partial', 'cache/archives/partial', 'package', 'unpacked']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await writeFile(join(folder, 'sources', 'rookery.sources'), stanzaFor(source, suite, components));
  const apt = privateApt(folder);
  const step = async (what: string, command: string, args: string[], cwd = folder) => {
    const { code, stderr } = await runCommand(command, args, { cwd, timeoutMs: 300_000 });
    if (code !== 0) throw new Error(`${what} of ${suite}: ${stderr.trim().split('\n').at(-1) ?? `exit ${code}`}`);
  };
  await step('apt-get update', 'apt-get', [...apt, 'update']);
  await step('apt-get download', 'apt-get', [...apt, 'download', 'nats-server'], join(folder, 'package'));
  const name = (await readdir(join(folder, 'package'))).find((each) => each.endsWith('.deb'));
  if (name === undefined) throw new Error(`apt-get download of ${suite} left no package`);
  await step('dpkg -x', 'dpkg', ['-x', join(folder, 'package', name), join(folder, 'unpacked')]);
  return join(folder, 'unpacked', 'usr', 'sbin', 'nats-server');
}

/**
 * Gets nats-server out of the newest suites of the machine's own mirror into the cache, checked by apt's
 * signatures, without touching the system. NATS_MISSING with the reasons where none of them serves 2.15 or newer.
 */
export async function fetchFromDebian(machine: DebianMachine, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const source = distributionSource(machine.sources, machine.codename);
  const newest = newestSuites(machine.distribution);
  if (source === null || newest === null) {
    throw new AppError('NATS_MISSING', { message: 'apt has no source for this release of the distribution.' });
  }
  const cache = natsCacheFolder(env);
  await mkdir(cache, { recursive: true });
  const reasons: string[] = [];
  for (const suite of newest.suites) {
    const folder = await mkdtemp(join(cache, 'fetch-'));
    try {
      const binary = await fromSuite(source, suite, newest.components, folder);
      return await install(binary, cache);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new AppError('NATS_MISSING', { message: reasons.join('; '), details: { reasons } });
}

/** Puts a fetched binary into the cache under its final name, once it has said that it is new enough. */
export async function install(binary: string, cache: string): Promise<string> {
  const { stdout } = await runCommand(binary, ['--version'], { timeoutMs: 10_000 });
  const version = parseVersion(stdout);
  if (version === null) throw new Error('the fetched nats-server does not run on this machine');
  if (!isSupported(version)) throw new Error(`it has ${formatVersion(version)}; 2.15 or newer is needed`);
  const target = join(cache, 'nats-server');
  const part = `${target}.${process.pid}.part`;
  await copyFile(binary, part);
  await chmod(part, 0o755);
  await rename(part, target);
  return target;
}
