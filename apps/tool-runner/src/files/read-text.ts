import { open, readFile, stat } from 'node:fs/promises';
import { BINARY_SAMPLE_BYTES, isBinaryName, isBinarySample } from '@rookery/sandbox';
import { systemCode, ToolFailure } from '../tool-call.ts';

/** Largest file that a tool takes into memory whole, in bytes. */
export const MAX_WHOLE_FILE_BYTES = 16 * 1024 * 1024;

/** The first bytes of a file, at most as many as asked for. Throws what the system throws. */
export async function readBeginning(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Tells by name and first bytes whether a file is binary. Throws what the system throws. */
export async function isBinaryFile(path: string): Promise<boolean> {
  return isBinaryName(path) || isBinarySample(await readBeginning(path, BINARY_SAMPLE_BYTES));
}

/** Fails with binary_file if a file is no text, with the given code if it cannot be read. */
export async function requireText(path: string, errorCode: string): Promise<void> {
  let binary: boolean;
  try {
    binary = await isBinaryFile(path);
  } catch (error) {
    throw new ToolFailure(errorCode, `The file cannot be read (${systemCode(error)}).`, error);
  }
  if (binary) throw new ToolFailure('binary_file', `${path} is a binary file.`);
}

/** Takes a whole file as bytes. Fails with the given code where it is over 16 MiB or cannot be read. */
export async function readWhole(path: string, errorCode: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_WHOLE_FILE_BYTES) return await readFile(path);
  } catch (error) {
    throw new ToolFailure(errorCode, `The file cannot be read (${systemCode(error)}).`, error);
  }
  throw new ToolFailure(errorCode, 'The file is larger than 16 MiB; use a command instead.');
}

/** Decodes UTF-8 and keeps a byte order mark. Fails with unsupported_encoding. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolFailure('unsupported_encoding', 'The file is not UTF-8 text.', error);
  }
}
