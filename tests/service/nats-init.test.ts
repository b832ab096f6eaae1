import { execFile } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { formatListen, obtainServer, settlePort, startServer } from '@rookery/nats';
import { checkout, endWithParent, temporaryFolder } from '@rookery/testkit';
import { expect, it } from 'vitest';

/** The steps of docs/operations.md for a nats-server of one's own. */
it("makes a server of one's own: configuration, streams, and the same again without a change", async () => {
  const folder = await temporaryFolder('nats-init');
  const home = folder.path;
  const init = (args: string[] = [], url?: string) => {
    const { ROOKERY_NATS_URL: _outer, ...env } = process.env;
    return promisify(execFile)(
      process.execPath,
      [join(checkout, 'apps/cli/bin/rookery.mjs'), 'nats', 'init', ...args],
      {
        env: { ...env, ROOKERY_HOME: home, ...(url === undefined ? {} : { ROOKERY_NATS_URL: url }) },
      },
    );
  };
  const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_NATS');
  const configuration = join(home, 'nats', 'nats.conf');
  const line = `listen: "${formatListen(listen)}"`;

  expect(await init(['--listen', formatListen(listen)])).toMatchObject({ stderr: '' });
  expect(await readFile(configuration, 'utf8')).toContain(line);
  // Again, as after an upgrade: the address stays.
  expect(await init()).toMatchObject({ stderr: '' });
  expect(await readFile(configuration, 'utf8')).toContain(line);

  await appendFile(configuration, '\n# a change of its owner\n');
  const written = await readFile(configuration, 'utf8');
  const { path: binary } = await obtainServer();
  const server = await startServer({ binary, configuration, listen, logFile: join(home, 'nats', 'nats.log') });
  const release = endWithParent(server.pid);
  try {
    const url = `nats://${formatListen(listen)}`;
    const first = await init([], url);
    expect(first).toMatchObject({ stderr: '' });
    expect(first.stdout).toContain('Created ');
    expect((await init([], url)).stdout).toBe('Everything is there already.\n');
    expect(await readFile(configuration, 'utf8')).toBe(written);
  } finally {
    release();
    server.process.kill('SIGKILL');
    await server.exited;
    await folder.remove();
  }
});
