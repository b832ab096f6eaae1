import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import * as z from 'zod';

export const MANIFEST = 'manifest.json';
/** Layout of a backup that this program writes; it reads no newer one. */
export const FORMAT = 1;

const streamState = z.looseObject({ messages: z.int(), bytes: z.int(), first_seq: z.int(), last_seq: z.int() });

const manifestSchema = z.object({
  format: z.int().min(1),
  product: z.literal('rookery'),
  version: z.string(),
  createdAt: z.iso.datetime(),
  homeId: z.string().min(1),
  journalId: z.string().min(1),
  /** In the order in which they were copied. */
  streams: z
    .array(
      z.object({
        name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
        file: z.string().regex(/^[A-Za-z0-9_-]{1,64}\.snapshot$/),
        bytes: z.int().min(0),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        config: z.record(z.string(), z.unknown()),
        state: streamState,
      }),
    )
    .min(1),
});

/** What a backup holds: each stream with its sequences and the digest of its file. */
export type Manifest = z.infer<typeof manifestSchema>;

function invalid(folder: string, what: string): AppError {
  return new AppError('BACKUP_INVALID', {
    message: `${folder} is no whole backup of Rookery: ${what}. Choose another one.`,
    details: { folder, what },
  });
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Reads a backup's manifest and compares every file with it. BACKUP_INVALID names what is wrong. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null);
  if (text === null) throw invalid(folder, `${MANIFEST} cannot be read`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(folder, `${MANIFEST} is not JSON`);
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > FORMAT) {
    throw invalid(folder, `it was made by a newer Rookery (format ${format})`);
  }
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) throw invalid(folder, `${MANIFEST}: ${parsed.error.issues[0]?.path.join('.') ?? 'unreadable'}`);
  for (const { file, bytes, sha256 } of parsed.data.streams) {
    const path = join(folder, file);
    const found = await stat(path).catch(() => null);
    if (found === null) throw invalid(folder, `${file} is missing`);
    if (found.size !== bytes) throw invalid(folder, `${file} has ${found.size} bytes instead of ${bytes}`);
    if ((await digestOf(path)) !== sha256) throw invalid(folder, `${file} was changed`);
  }
  return parsed.data;
}
