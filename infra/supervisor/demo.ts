import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Hosts the built-in demo provider on a free port of loopback and says in run/demo.json where. */
export async function hostDemo(home: string): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    // Loaded at the first request: a house with a real model never pays for it.
    import('../demo/server.ts')
      .then(({ answerDemoRequest }) => answerDemoRequest(request, response))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await writeFile(join(home, 'run', 'demo.json'), `${JSON.stringify({ url: `http://127.0.0.1:${port}/v1` })}\n`);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { stop };
}
