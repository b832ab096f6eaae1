import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { readSeed } from '@rookery/nats';
import type { HouseStatus } from '@rookery/protocol';
import { eventually } from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clearHouse, isRunning, npmStart, type RunningHouse, startScript, temporaryHome } from './running-house.ts';

/** A start takes seconds on a quiet machine; this bound is for a busy one. */
const startMs = 180_000;
const services = ['channels', 'gateway', 'agent', 'tool-runner', 'memory'];
const opened: RunningHouse[] = [];
const opening = (house: RunningHouse): RunningHouse => {
  opened.push(house);
  return house;
};

async function ready(house: RunningHouse): Promise<{ base: string; code: string }> {
  const [, base = '', code = ''] = await house.printed(/(http:\/\/127\.0\.0\.1:\d+)\/#code=(\S+)/);
  return { base, code };
}

const exchange = (base: string, code: string): Promise<Response> =>
  fetch(`${base}/auth/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: base },
    body: JSON.stringify({ code }),
  });

const allGone = (pids: Record<string, number>) =>
  eventually('all processes to be gone', () => Object.values(pids).every((pid) => !isRunning(pid)), {
    timeoutMs: 20_000,
  });

describe('a house that runs', { timeout: startMs }, () => {
  let house: RunningHouse;
  let base: string;
  let code: string;

  beforeAll(async () => {
    house = npmStart(await temporaryHome());
    ({ base, code } = await ready(house));
  }, startMs);
  afterAll(() => clearHouse(house));

  it('says what it did, how long it took, and gives a link that works once', async () => {
    for (const name of ['packages', 'bundles', 'web', 'nats-server', 'nats', 'provision', 'services']) {
      expect(house.output).toMatch(new RegExp(`^  ${name} .* \\d+\\.\\d+ s$`, 'm'));
    }
    expect(house.output).toMatch(/^Rookery ready in \d+\.\d s$/m);
    const first = await exchange(base, code);
    expect(first.status).toBe(200);
    expect(first.headers.get('set-cookie')).toMatch(/rookery_session=.*HttpOnly/i);
    expect((await exchange(base, code)).status).toBe(401);
  });

  it('serves the page that was built', async () => {
    const page = await fetch(`${base}/`);
    expect(page.status).toBe(200);
    const text = await page.text();
    const [, script = ''] = /<script[^>]+src="([^"]+\.js)"/.exec(text) ?? [];
    expect((await fetch(new URL(script, base))).headers.get('content-type')).toMatch(/javascript/);
  });

  it('keeps its secrets to its owner', async () => {
    for (const name of ['token', 'master.key', 'nats/nats.conf', 'nats/keys/gateway.nk']) {
      expect((await stat(join(house.home, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(house.home)).mode & 0o077).toBe(0);
  });

  it('says in run/ where everything listens', async () => {
    const gateway = await house.json<{ http: { host: string; port: number }; pid: number }>('gateway.json');
    expect(`http://${gateway.http.host}:${gateway.http.port}`).toBe(base);
    const pids = await house.pids();
    expect(gateway.pid).toBe(pids.gateway);
    expect((await house.json<{ url: string; pid: number }>('nats.json')).pid).toBe(pids['nats-server']);
    const { url } = await house.json<{ url: string }>('demo.json');
    expect((await fetch(`${url}/models`)).status).toBe(200);
    expect(Object.keys(pids).sort()).toEqual([...services, 'nats-server', 'supervisor'].sort());
  });

  it('runs a server that syncs each acknowledged message', async () => {
    const { url } = await house.json<{ url: string }>('nats.json');
    const seed = new TextEncoder().encode(await readSeed(house.home, 'system'));
    const nc = await connect({ servers: url, authenticator: nkeyAuthenticator(seed) });
    const reply = await nc.request('$SYS.REQ.SERVER.PING.VARZ', '', { timeout: 5000 });
    await nc.close();
    expect(reply.json<{ data: object }>().data).toMatchObject({
      server_name: 'rookery',
      jetstream: { config: { sync_always: true } },
      http_port: 0,
    });
  });

  it('refuses a second start on the same home, with the pid that holds it', async () => {
    const second = opening(startScript(house.home, { ROOKERY_TIMINGS: '{"lockWaitMs":300}' }));
    expect(await second.exited).toBe(1);
    const { supervisor } = await house.pids();
    expect(second.output).toContain('HOME_LOCKED');
    expect(second.output).toContain(`pid ${supervisor}`);
  });

  it('hands no service the master key, and each only its own vault keys', async () => {
    const pids = await house.pids();
    for (const service of services) {
      const environment = readFileSync(`/proc/${pids[service]}/environ`, 'utf8');
      expect(environment).not.toContain('ROOKERY_MASTER_KEY');
      const keys = /ROOKERY_VAULT_KEYS=(\{[^\0]*\})/.exec(environment)?.[1] ?? '';
      expect(keys.includes('vault_provider')).toBe(service === 'gateway' || service === 'agent');
      expect(keys.includes('vault_channel')).toBe(service === 'gateway' || service === 'channels');
      // Nothing keeps secrets of tools yet, so nobody has their key.
      expect(keys).not.toContain('vault_tool');
    }
  });

  it.each([...services, 'nats-server'])('starts %s again after kill -9, at the same place', async (name) => {
    const before = (await house.pids())[name] ?? 0;
    process.kill(before, 'SIGKILL');
    const after = await eventually(
      `a new ${name}`,
      async () => {
        const pid = (await house.pids())[name];
        return pid !== undefined && pid !== before && isRunning(pid) && pid;
      },
      { timeoutMs: 15_000 },
    );
    expect(after).not.toBe(before);
    await eventually('the gateway to be ready', async () => (await fetch(`${base}/readyz`)).status === 200, {
      timeoutMs: 20_000,
    });
  });

  it('says in status, figures and doctor which process was started again, and that it is tried all the same', async () => {
    const token = (await readFile(join(house.home, 'token'), 'utf8')).trim();
    const authorization = `Bearer ${token}`;
    const processes = async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'system.status', params: {} });
      const headers = { 'content-type': 'application/json', authorization };
      const reply = await fetch(`${base}/rpc/v1`, { method: 'POST', headers, body });
      const { result } = (await reply.json()) as { result?: { supervisor: HouseStatus | null } };
      return result?.supervisor?.processes ?? [];
    };
    const memory = async () => (await processes()).find(({ name }) => name === 'memory');
    const before = await eventually('memory to run', async () => {
      const found = await memory();
      return found?.state === 'running' && found;
    });
    expect(before.failing).toBe(false);
    while (!(await memory())?.failing) {
      const { pid } = (await memory()) ?? {};
      if (pid) process.kill(pid, 'SIGKILL');
      await eventually('another process', async () => (await memory())?.pid !== pid, { timeoutMs: 20_000 });
    }
    const after = await memory();
    expect((after?.restarts ?? 0) - before.restarts).toBeGreaterThanOrEqual(4);
    const figures = await (await fetch(`${base}/metrics`, { headers: { authorization } })).text();
    expect(figures).toMatch(/^rookery_service_restarts_total\{service="memory"\} [1-9]/m);
    expect(figures).toMatch(/^rookery_service_failing\{service="memory"\} 1$/m);
    expect(figures).toMatch(/^rookery_storage_free_bytes \d+$/m);
    const doctor = spawnSync(process.execPath, ['dist/cli.mjs', 'doctor', '--json'], {
      encoding: 'utf8',
      env: { ...process.env, ROOKERY_HOME: house.home, ROOKERY_HTTP: new URL(base).host },
    });
    const { findings } = JSON.parse(doctor.stdout) as { findings: { name: string; state: string; found: string }[] };
    expect(findings).toContainEqual(expect.objectContaining({ name: 'starts of memory', state: 'wrong' }));
    await eventually('memory to run', async () => (await memory())?.state === 'running', { timeoutMs: 20_000 });
  });

  it('stops all in order on SIGTERM and leaves no process', async () => {
    const pids = await house.pids();
    house.child.kill('SIGTERM');
    await house.exited;
    await allGone(pids);
    expect(house.output).toContain('stopped');
    await expect(stat(join(house.home, 'lock'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a start', { timeout: startMs }, () => {
  afterEach(async () => {
    for (const house of opened.splice(0)) await clearHouse(house);
  });

  it('recovers from a kill -9 of the supervisor', async () => {
    const first = opening(startScript(await temporaryHome()));
    await ready(first);
    const pids = await first.pids();
    process.kill(pids.supervisor ?? 0, 'SIGKILL');
    const { 'nats-server': nats = 0, ...others } = pids;
    await allGone(others);
    const second = opening(startScript(first.home));
    await ready(second);
    expect(isRunning(nats)).toBe(false);
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });

  it('is stopped by runtime.shutdown, all in order', async () => {
    const house = opening(startScript(await temporaryHome()));
    const { base } = await ready(house);
    const pids = await house.pids();
    const token = (await readFile(join(house.home, 'token'), 'utf8')).trim();
    const reply = await fetch(`${base}/rpc/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'runtime.shutdown', params: {} }),
    });
    expect(await reply.json()).toMatchObject({ result: { accepted: true } });
    expect(await house.exited).toBe(0);
    await allGone(pids);
  });

  it('runs the five services in one process', async () => {
    const house = opening(startScript(await temporaryHome(), {}, ['--one-process']));
    const { base } = await ready(house);
    expect(Object.keys(await house.pids()).sort()).toEqual(['nats-server', 'one-process', 'supervisor']);
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    const pids = await house.pids();
    house.child.kill('SIGINT');
    expect(await house.exited).toBe(0);
    await allGone(pids);
  });

  it('can be stopped while it starts, and leaves nothing', async () => {
    const house = opening(startScript(await temporaryHome()));
    await house.printed(/^ {2}nats .* s$/m);
    const pids = await house.pids();
    expect(Object.keys(pids)).toContain('nats-server');
    house.child.kill('SIGINT');
    expect(await house.exited).toBe(0);
    await allGone(pids);
    expect(Object.keys(await house.pids())).toEqual(['supervisor']);
    expect(house.output).not.toContain('ready in');
  });

  it('is refused with the reason where a setting is invalid', async () => {
    const house = opening(startScript(await temporaryHome(), { ROOKERY_HTTP: '7420' }));
    expect(await house.exited).toBe(1);
    expect(house.output).toMatch(/CONFIG_INVALID: ROOKERY_HTTP/);
  });

  it.each(['ROOKERY_HTTP', 'ROOKERY_NATS'])(
    'says that the port of %s is in use and leaves nothing',
    async (setting) => {
      const server = createServer();
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      const house = opening(startScript(await temporaryHome(), { [setting]: `127.0.0.1:${port}` }));
      expect(await house.exited).toBe(1);
      expect(house.output).toContain(`PORT_IN_USE: ${setting}`);
      expect(Object.keys(await house.pids())).toEqual(['supervisor']);
      await new Promise((closed) => server.close(closed));
    },
  );

  it('says what to do where a named nats-server is too old or missing', async () => {
    const house = opening(startScript(await temporaryHome(), { ROOKERY_NATS_SERVER: '/nowhere/nats-server' }));
    expect(await house.exited).toBe(1);
    expect(house.output).toContain('CONFIG_INVALID: ROOKERY_NATS_SERVER');
  });
});
