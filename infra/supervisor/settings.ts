import { resolve } from 'node:path';
import type { Schedule } from '@rookery/backup';
import { type Listen, parseListen } from '@rookery/nats';
import { AppError, type Timings } from '@rookery/protocol';
import { homeFolder, integerSetting, storageLowBytes, timingsFrom } from '@rookery/service';

export interface SupervisorSettings {
  home: string;
  http: Listen;
  nats: Listen;
  /** An existing server to use instead of starting one. */
  natsUrl: string | null;
  replicas: number;
  slot: number;
  /** Free disk space below which it says that there is little left, in bytes. */
  storageLowBytes: number;
  /** Copies that are made by themselves; null where no folder is named. */
  copies: Schedule | null;
  timings: Timings;
}

function invalid(setting: string, value: string, expected: string): AppError {
  return new AppError('CONFIG_INVALID', {
    message: `${setting}: "${value}" is not ${expected}.`,
    details: { setting },
  });
}

function replicasOf(env: NodeJS.ProcessEnv): number {
  const replicas = integerSetting(env, 'ROOKERY_REPLICAS', 1, 1, 5);
  if (replicas % 2 === 0) throw invalid('ROOKERY_REPLICAS', String(replicas), '1, 3 or 5');
  return replicas;
}

function natsUrls(value: string | undefined): string | null {
  if (!value) return null;
  for (const part of value.split(',')) {
    const url = URL.canParse(part.trim()) ? new URL(part.trim()) : null;
    if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === '') {
      throw invalid('ROOKERY_NATS_URL', value.replace(/\/\/[^@/]*@/g, '//***@'), 'a list of nats://host:port');
    }
  }
  return value;
}

/** ROOKERY_BACKUP_DIR turns copies on: one a day by default, the newest seven are kept. */
function copiesOf(env: NodeJS.ProcessEnv): Schedule | null {
  const everyHours = integerSetting(env, 'ROOKERY_BACKUP_HOURS', 24, 1, 24 * 365);
  const keep = integerSetting(env, 'ROOKERY_BACKUP_KEEP', 7, 1, 10_000);
  const folder = env.ROOKERY_BACKUP_DIR;
  return folder ? { folder: resolve(folder), everyHours, keep } : null;
}

/** Reads the supervisor's settings from the environment; CONFIG_INVALID names the one that is wrong. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): SupervisorSettings {
  return {
    home: homeFolder(env),
    http: parseListen(env.ROOKERY_HTTP || '127.0.0.1:7420', 'ROOKERY_HTTP'),
    nats: parseListen(env.ROOKERY_NATS || '127.0.0.1:4222', 'ROOKERY_NATS'),
    natsUrl: natsUrls(env.ROOKERY_NATS_URL),
    replicas: replicasOf(env),
    slot: integerSetting(env, 'ROOKERY_SLOT', 0, 0, 99),
    storageLowBytes: storageLowBytes(env),
    copies: copiesOf(env),
    timings: timingsFrom(env),
  };
}
