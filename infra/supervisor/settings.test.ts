import { homedir } from 'node:os';
import { join } from 'node:path';
import { productionTimings } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { readSettings } from './settings.ts';

it('has the documented defaults', () => {
  expect(readSettings({})).toEqual({
    home: join(homedir(), '.rookery'),
    http: { host: '127.0.0.1', port: 7420 },
    nats: { host: '127.0.0.1', port: 4222 },
    natsUrl: null,
    replicas: 1,
    slot: 0,
    storageLowBytes: 256 * 1024 * 1024,
    copies: null,
    timings: productionTimings,
  });
});

it('reads what is set', () => {
  const settings = readSettings({
    ROOKERY_HOME: '~/elsewhere',
    ROOKERY_HTTP: '[::1]:0',
    ROOKERY_NATS_URL: 'nats://a:4222,nats://b:4222',
    ROOKERY_REPLICAS: '3',
    ROOKERY_BACKUP_DIR: '/backups',
    ROOKERY_BACKUP_KEEP: '3',
    ROOKERY_TIMINGS: '{"lockWaitMs":50}',
  });
  expect(settings).toMatchObject({ home: join(homedir(), 'elsewhere'), replicas: 3, timings: { lockWaitMs: 50 } });
  expect(settings.copies).toEqual({ folder: '/backups', everyHours: 24, keep: 3 });
  expect(settings.http).toEqual({ host: '::1', port: 0 });
  expect(settings.natsUrl).toBe('nats://a:4222,nats://b:4222');
});

it.each([
  ['ROOKERY_HTTP', '7420'],
  ['ROOKERY_NATS', 'localhost'],
  ['ROOKERY_NATS_URL', 'http://localhost:4222'],
  ['ROOKERY_REPLICAS', '2'],
  ['ROOKERY_SLOT', '-1'],
  ['ROOKERY_BACKUP_HOURS', '0'],
  ['ROOKERY_BACKUP_KEEP', 'all'],
  ['ROOKERY_TIMINGS', '{'],
  ['ROOKERY_TIMINGS', '{"lockWait":1}'],
  ['ROOKERY_TIMINGS', '{"lockWaitMs":"1"}'],
])('refuses %s=%s by name', (setting, value) => {
  expect(() => readSettings({ [setting]: value })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(setting) }),
  );
});

it('repeats no password of a URL', () => {
  expect(() => readSettings({ ROOKERY_NATS_URL: 'http://me:hunter2@host' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  );
});
