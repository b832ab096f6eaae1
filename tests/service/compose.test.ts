import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatListen, obtainServer, settlePort } from '@rookery/nats';
import { eventually } from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const services = ['gateway', 'agent', 'tool-runner', 'memory', 'channels'];

interface Container {
  image: string;
  user?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  restart?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}

const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Container>;
  volumes: Record<string, unknown>;
};
const containers = Object.entries(compose.services);
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const container = (name: string): Container => {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
};

/** The text of every source that runs in a container. */
function sources(folder: string): string {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !/node_modules|dist|web|\.test\.ts$/.test(name))
    .map((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return path.endsWith('.ts') ? readFileSync(join(root, path), 'utf8') : '';
    })
    .join('\n');
}
const code = ['libs', 'apps', 'infra'].map(sources).join('\n');

describe('docker-compose.yml against the code', () => {
  it('has nats, the two preparations and the five services', () => {
    expect(Object.keys(compose.services).sort()).toEqual([...services, 'init', 'nats', 'provision'].sort());
  });

  it.each(containers)('%s runs a program that is built', (name, { entrypoint, command = [] }) => {
    const words = [...(entrypoint ?? ['node', 'dist/docker.mjs']), ...command];
    if (words[0] === 'nats-server') {
      expect(dockerfile).toContain('/usr/local/bin/nats-server');
      return;
    }
    expect(words[0]).toBe('node');
    expect(existsSync(join(root, words[1] ?? ''))).toBe(true);
    if (words[2] === 'run') expect([words[3], existsSync(join(root, `dist/${words[3]}.mjs`))]).toEqual([name, true]);
  });

  it.each(containers)('%s sets only variables that the code reads', (_name, { environment = {} }) => {
    for (const [variable, value] of Object.entries(environment)) {
      expect(code).toMatch(new RegExp(`env\\.${variable}\\b|'${variable}'`));
      for (const [, inner] of String(value).matchAll(/\$\{(\w+)/g)) expect(inner).toBe(variable);
    }
  });

  it('publishes the gateway’s port on loopback, and no other', () => {
    const [host, , inside] = container('gateway').ports?.[0]?.split(':') ?? [];
    expect(host).toBe('127.0.0.1');
    expect(container('gateway').environment?.ROOKERY_HTTP).toBe(`0.0.0.0:${inside}`);
    expect(code).toContain(`127.0.0.1:${inside}`);
    const published = containers.filter(([, { ports }]) => ports !== undefined).map(([name]) => name);
    expect(published).toEqual(['gateway']);
  });

  it('points every service at the server that init configures', () => {
    const listen = container('init').command?.at(-1);
    expect(listen).toBe('0.0.0.0:4222');
    for (const name of [...services, 'provision']) {
      expect(container(name).environment?.ROOKERY_NATS_URL).toBe('nats://nats:4222');
    }
  });

  it('gives each service a volume of its own and none the house with all keys', () => {
    for (const name of [...services, 'nats']) {
      expect(container(name).volumes).toContain(`${name}:/data`);
      expect(container(name).volumes?.filter((volume) => /^(house|workspaces)/.test(volume))).toEqual(
        name === 'tool-runner' ? ['workspaces:/workspaces'] : [],
      );
      expect(container('init').volumes).toContain(`${name}:/homes/${name}`);
      expect(dockerfile).toContain(`/homes/${name}`);
    }
    const used = new Set(containers.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0])));
    expect([...used].sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(container('tool-runner').environment?.ROOKERY_WORKSPACES_ROOT).toBe('/workspaces');
  });

  it('checks the health of what stays up, and starts in order', () => {
    for (const name of [...services, 'nats']) {
      expect(container(name).healthcheck?.test).toEqual(['CMD', 'node', 'dist/docker.mjs', 'health', name]);
      expect(container(name).restart).toBe('unless-stopped');
    }
    for (const name of services) {
      expect(container(name).depends_on?.provision?.condition).toBe('service_completed_successfully');
    }
    expect(container('nats').depends_on?.init?.condition).toBe('service_completed_successfully');
  });
});

describe('Dockerfile against the code', () => {
  it('runs as another user than root, from a slim stage', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last.indexOf('USER node')).toBeLessThan(last.indexOf('ENTRYPOINT'));
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(last).toMatch(/^VOLUME \["\/data", "\/workspaces"\]$/m);
  });

  it('builds by commands that exist, and copies what exists after them', () => {
    for (const [, file = ''] of dockerfile.matchAll(/RUN node (\S+\.mjs)/g)) {
      expect(existsSync(join(root, file))).toBe(true);
    }
    for (const [, file = ''] of dockerfile.matchAll(/COPY --from=build \/src\/(\S+)/g)) {
      expect(existsSync(join(root, file))).toBe(true);
    }
  });

  it('is of a Node that package.json allows', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.19');
    expect(dockerfile).toContain('FROM node:20-');
  });
});

describe('the containers, each as a process with its own home', () => {
  let folder: string;
  let url: string;
  const running: ChildProcess[] = [];
  const homeOf = (name: string) => join(folder, 'homes', name);
  const environment = (name: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    HOME: folder,
    ROOKERY_HOME: name === 'house' ? join(folder, 'house') : homeOf(name),
    ROOKERY_NATS_URL: url,
    ROOKERY_WORKSPACES_ROOT: join(folder, 'workspaces'),
    ...more,
  });
  const node = (name: string, args: string[], more?: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: environment(name, more) });
  let http: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rookery-compose-'));
    const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'nats');
    url = `nats://${formatListen(listen)}`;
    http = formatListen(await settlePort({ host: '127.0.0.1', port: 0 }, 'http'));
    const init = () =>
      node('house', ['dist/docker.mjs', 'init', join(folder, 'homes'), homeOf('nats'), formatListen(listen)]);
    expect(init().stderr).toBe('');
    // `docker compose up` again runs it again.
    expect(init().status).toBe(0);
    const { path: binary } = await obtainServer();
    running.push(spawn(binary, ['-c', join(homeOf('nats'), 'nats/nats.conf')], { stdio: 'ignore' }));
    const provision = node('house', ['dist/provision.mjs']);
    expect(provision.stderr).toBe('');
    for (const name of services) {
      const env = environment(name, { ROOKERY_HTTP: http });
      running.push(spawn(process.execPath, ['dist/docker.mjs', 'run', name], { cwd: root, env, stdio: 'ignore' }));
    }
  }, 120_000);
  afterAll(async () => {
    for (const child of running.reverse()) {
      const ended = new Promise((done) => child.once('exit', done));
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });

  it.each(services)('%s becomes healthy, and a check in another home is not', { timeout: 120_000 }, async (name) => {
    const health = () => node(name, ['dist/docker.mjs', 'health', name], { ROOKERY_HTTP: http }).status;
    await eventually(`${name} to be healthy`, () => health() === 0, { timeoutMs: 60_000, everyMs: 200 });
    const stranger = join(folder, 'stranger');
    expect(
      node(name, ['dist/docker.mjs', 'health', name], { ROOKERY_HOME: stranger, ROOKERY_HTTP: '127.0.0.1:1' }).status,
    ).toBe(1);
  });

  it('has in each home the keys of that service and no other', () => {
    const users = { gateway: 'gateway', agent: 'agent', 'tool-runner': 'tool', memory: 'memory', channels: 'channels' };
    for (const [name, user] of Object.entries(users)) {
      expect(readdirSync(join(homeOf(name), 'nats/keys'))).toEqual([`${user}.nk`]);
      expect(existsSync(join(homeOf(name), 'master.key'))).toBe(false);
      expect(statSync(join(homeOf(name), 'vault-keys.json')).mode & 0o777).toBe(0o600);
      expect(existsSync(join(homeOf(name), 'token'))).toBe(name === 'gateway');
    }
    expect(readFileSync(join(homeOf('nats'), 'nats/nats.conf'), 'utf8')).not.toMatch(/\bSU[A-Z2-7]{20,}/);
  });

  it('refuses to run what is no service', () => {
    const { status, stderr } = node('agent', ['dist/docker.mjs', 'run', '../cli']);
    expect(status).toBe(1);
    expect(stderr).toContain('no service');
  });
});
