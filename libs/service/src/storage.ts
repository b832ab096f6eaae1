import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, limits } from '@rookery/protocol';
import { integerSetting } from './config.ts';

const MIB = 1024 * 1024;

/** How much disk space is left for a home, as of the last look. */
export interface Storage {
  /** Bytes that are free where there is least; null where the system does not say. */
  freeBytes(): number | null;
  /** STORAGE_LOW while so little is free that nothing new may begin, else null. */
  refusal(): AppError | null;
  stop(): void;
}

export interface StorageOptions {
  /** ROOKERY_HOME; the store of its nats-server may be another file system. */
  home: string;
  lowBytes: number;
  /** Milliseconds between two looks. */
  lookMs: number;
  /** Called when it becomes low, and when it no longer is. */
  onChange?(refusal: AppError | null): void;
}

/** Bytes below which nothing new begins: ROOKERY_STORAGE_LOW_MIB, 256 MiB by default, 0 for never. */
export function storageLowBytes(env: NodeJS.ProcessEnv): number {
  return integerSetting(env, 'ROOKERY_STORAGE_LOW_MIB', limits.storageLowMiB, 0, 1_000_000_000) * MIB;
}

async function freeOf(folder: string): Promise<number[]> {
  const info = await statfs(folder).catch(() => null);
  return info === null ? [] : [info.bavail * info.bsize];
}

/** Watches the free space of a home; resolves after the first look. */
export async function watchStorage({ home, lowBytes, lookMs, onChange }: StorageOptions): Promise<Storage> {
  let free: number | null = null;
  let refusal: AppError | null = null;
  let looking = false;
  const look = async () => {
    // A file system that hangs must not be asked again and again.
    if (looking) return;
    looking = true;
    const found = (await Promise.all([home, join(home, 'nats', 'store')].map(freeOf))).flat();
    looking = false;
    free = found.length === 0 ? null : Math.min(...found);
    const before = refusal;
    const isLow = free !== null && free < lowBytes;
    refusal = isLow ? new AppError('STORAGE_LOW', { details: { freeBytes: free, neededBytes: lowBytes } }) : null;
    if (isLow !== (before !== null)) onChange?.(refusal);
  };
  await look();
  const timer = setInterval(() => void look(), lookMs);
  timer.unref();
  return { freeBytes: () => free, refusal: () => refusal, stop: () => clearInterval(timer) };
}
