import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { errorFromBody } from '@rookery/protocol';

/**
 * Creates or verifies streams, buckets and consumers by the provision program; gives what it did, in words.
 * Rejects with the program's own code (JOURNAL_UNAVAILABLE, CONFIG_INVALID, …). `signal` ends the program.
 */
export function provisionHome(dist: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(dist, 'provision.mjs')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    // Not by the option of `spawn`, which would fail with a reason of its own before the one who stopped it is heard.
    const end = () => void child.kill();
    signal.addEventListener('abort', end, { once: true });
    let output = '';
    let failure = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      failure += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', end);
      if (code === 0) resolve(output.trim());
      else reject(provisionError(failure));
    });
  });
}

function provisionError(text: string): Error {
  try {
    return errorFromBody(JSON.parse(text.trim().split('\n').at(-1) ?? ''));
  } catch {
    return new Error(`provisioning failed: ${text.trim().slice(-500)}`);
  }
}
