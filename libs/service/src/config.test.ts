import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, isSubjectToken, productionTimings } from '@rookery/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  agentWorkers,
  homeFolder,
  integerSetting,
  readServiceConfig,
  type ServiceName,
  timingsFrom,
} from './config.ts';

let home: string;
const services: ServiceName[] = ['gateway', 'agent', 'tool', 'memory', 'channels'];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'rookery-config-'));
  mkdirSync(join(home, 'nats/keys'), { recursive: true });
  for (const service of services) writeFileSync(join(home, `nats/keys/${service}.nk`), `SU-${service}\n`);
});
afterAll(() => rmSync(home, { recursive: true }));

const environment = (change: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ROOKERY_HOME: home,
  ROOKERY_NATS_URL: 'nats://127.0.0.1:4222',
  ROOKERY_LOG: 'silent',
  ...change,
});

/** The code and setting of the refusal; null where there is none. */
function refusal(read: () => unknown): { code: string; message: string } | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message };
    throw error;
  }
}
const invalid = (name: string) => ({ code: 'CONFIG_INVALID', message: expect.stringContaining(name) });

describe('the configuration of a service', () => {
  it.each(services)('of %s has its own folder, key and name', (service) => {
    const config = readServiceConfig(service, environment({ ROOKERY_SLOT: '3' }));
    expect(config).toMatchObject({
      service,
      home,
      slot: 3,
      nkeySeed: `SU-${service}`,
      natsUrl: 'nats://127.0.0.1:4222',
      timings: productionTimings,
    });
    expect(config.folder).toBe(join(home, service === 'tool' ? 'tool-runner' : service, '3'));
    expect(isSubjectToken(config.instance)).toBe(true);
    expect(config.instance).toMatch(/-3-[0-9a-f]{12}$/);
  });

  it('has another boot each time', () => {
    const [one, two] = [readServiceConfig('agent', environment()), readServiceConfig('agent', environment())];
    expect(one.instance).not.toBe(two.instance);
  });

  it('finds the local server in its file', () => {
    mkdirSync(join(home, 'run'), { recursive: true });
    const withFile = environment({ ROOKERY_NATS_URL: '' });
    expect(refusal(() => readServiceConfig('agent', withFile))).toEqual(invalid('ROOKERY_NATS_URL'));
    writeFileSync(join(home, 'run/nats.json'), JSON.stringify({ url: 'nats://127.0.0.1:9', pid: 1 }));
    expect(readServiceConfig('agent', withFile).natsUrl).toBe('nats://127.0.0.1:9');
    writeFileSync(join(home, 'run/nats.json'), '{"url":');
    expect(refusal(() => readServiceConfig('agent', withFile))).toEqual(invalid('nats.json'));
    rmSync(join(home, 'run'), { recursive: true });
  });

  it.each([
    ['ROOKERY_HOME', 'relative/path'],
    ['ROOKERY_SLOT', '-1'],
    ['ROOKERY_SLOT', '100'],
    ['ROOKERY_SLOT', '1.5'],
    ['ROOKERY_SLOT', 'one'],
    ['ROOKERY_LOG', 'loud'],
    ['ROOKERY_TIMINGS', 'not JSON'],
    ['ROOKERY_TIMINGS', 'null'],
    ['ROOKERY_TIMINGS', '[]'],
    ['ROOKERY_TIMINGS', '5'],
    ['ROOKERY_TIMINGS', '{"noSuchWait":1}'],
    ['ROOKERY_TIMINGS', '{"sweepMs":0}'],
    ['ROOKERY_TIMINGS', '{"sweepMs":"5"}'],
    ['ROOKERY_VAULT_KEYS', 'not JSON'],
    ['ROOKERY_VAULT_KEYS', '{"vault_provider":7}'],
    ['ROOKERY_VAULT_KEYS', '{"vault_provider":"xyz"}'],
  ])('refuses %s = %j and names it', (name, value) => {
    expect(refusal(() => readServiceConfig('agent', environment({ [name]: value })))).toEqual(invalid(name));
  });

  it('names the key file that cannot be read', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'rookery-empty-'));
    expect(refusal(() => readServiceConfig('agent', environment({ ROOKERY_HOME: elsewhere })))).toEqual(
      invalid('agent.nk'),
    );
    rmSync(elsewhere, { recursive: true });
  });
});

describe('vault keys', () => {
  const keys = { vault_provider: 'aa'.repeat(32), vault_channel: 'bb'.repeat(32), vault_tool: 'cc'.repeat(32) };
  const env = (): NodeJS.ProcessEnv => environment({ ROOKERY_VAULT_KEYS: JSON.stringify(keys) });

  it.each<[ServiceName, string[]]>([
    ['gateway', ['vault_provider', 'vault_channel']],
    ['agent', ['vault_provider']],
    ['tool', []],
    ['memory', []],
    ['channels', ['vault_channel']],
  ])('of %s are %j and no others', (service, buckets) => {
    const { vaultKeys } = readServiceConfig(service, env());
    expect(Object.keys(vaultKeys)).toEqual(buckets);
    for (const key of Object.values(vaultKeys)) expect(key).toHaveLength(32);
  });

  it('are gone from the environment that children inherit, and there for the next service of the process', () => {
    const shared = env();
    readServiceConfig('memory', shared);
    expect(shared.ROOKERY_VAULT_KEYS).toBeUndefined();
    expect(readServiceConfig('channels', shared).vaultKeys.vault_channel?.toString('hex')).toBe(keys.vault_channel);
  });
});

describe('single settings', () => {
  it('ROOKERY_HOME is absolute, or below the home of the user', () => {
    expect(homeFolder({})).toBe(join(homedir(), '.rookery'));
    expect(homeFolder({ ROOKERY_HOME: '' })).toBe(join(homedir(), '.rookery'));
    expect(homeFolder({ ROOKERY_HOME: '~/birds' })).toBe(join(homedir(), 'birds'));
    expect(homeFolder({ ROOKERY_HOME: '/data/../home/' })).toBe('/home');
  });

  it('ROOKERY_AGENT_WORKERS is 6, or 1 to 8', () => {
    expect(agentWorkers({})).toBe(6);
    expect([agentWorkers({ ROOKERY_AGENT_WORKERS: '1' }), agentWorkers({ ROOKERY_AGENT_WORKERS: '8' })]).toEqual([
      1, 8,
    ]);
    for (const value of ['0', '9', '2.5', 'many']) {
      expect(refusal(() => agentWorkers({ ROOKERY_AGENT_WORKERS: value }))).toEqual(invalid('ROOKERY_AGENT_WORKERS'));
    }
  });

  it('a whole number is within its bounds or refused, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom('1e3', '0x10', ' 5 ', 'Infinity', '-0')),
        (text) => {
          const read = () => integerSetting({ A: text }, 'A', 7, 5, 5000);
          const refused = refusal(read);
          if (refused !== null) expect(refused).toEqual(invalid('A'));
          else if (text === '') expect(read()).toBe(7);
          else expect(read() >= 5 && read() <= 5000 && Number.isInteger(read())).toBe(true);
        },
      ),
    );
  });

  it('ROOKERY_TIMINGS replaces the waits that it names', () => {
    expect(timingsFrom({})).toEqual(productionTimings);
    expect(timingsFrom({ ROOKERY_TIMINGS: '{}' })).toEqual(productionTimings);
    expect(timingsFrom({ ROOKERY_TIMINGS: '{"sweepMs":50}' })).toEqual({ ...productionTimings, sweepMs: 50 });
    for (const name of ['__proto__', 'toString']) {
      expect(refusal(() => timingsFrom({ ROOKERY_TIMINGS: `{"${name}":5}` }))).toEqual(invalid('ROOKERY_TIMINGS'));
    }
  });
});
