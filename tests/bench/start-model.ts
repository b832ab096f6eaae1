import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts the scripted model in a process of its own and gives its base URL. */
export function startModelProcess(): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('./model.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the model server ended with ${code}`)));
    child.stdout?.setEncoding('utf8').once('data', (text: string) => {
      resolve({ url: text.trim(), stop: () => child.kill('SIGKILL') });
    });
  });
}
