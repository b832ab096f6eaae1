import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let home: string;
/** The source as one file: compiling it for each process would take most of the time. */
let bundle: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'rookery-run-'));
  mkdirSync(join(home, 'nats/keys'), { recursive: true });
  for (const user of ['agent', 'memory']) writeFileSync(join(home, `nats/keys/${user}.nk`), 'SU-none\n');
  bundle = join(home, 'run.mjs');
  const contents = "export { runServices } from './run.ts'; export { AppError } from '@rookery/protocol';";
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
});
afterAll(() => rmSync(home, { recursive: true }));

interface Line {
  service: string;
  msg: string;
  code?: string;
}

/** A program of two services, memory and then agent; it is told to stop once both are started. */
async function run(memory: string, agent: string): Promise<{ code: number | null; lines: Line[] }> {
  const program = `
    import { AppError, runServices } from ${JSON.stringify(bundle)};
    const say = (text) => process.stdout.write(JSON.stringify({ service: 'test', msg: text }) + '\\n');
    await runServices('both', [['memory', ${memory}], ['agent', ${agent}]]);`;
  const env = {
    ...process.env,
    ROOKERY_HOME: home,
    ROOKERY_NATS_URL: 'nats://127.0.0.1:1',
    ROOKERY_LOG: 'info',
    ROOKERY_TIMINGS: '{"drainMs":1}',
  };
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.on('message', () => child.kill('SIGTERM'));
  const code = await new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status)));
  return {
    code,
    lines: output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line),
  };
}

const running = (name: string) => `async () => ({ stop: async () => say('stopped ${name}') })`;

describe('several services as one process', { concurrent: true }, () => {
  it('say that they are ready, and stop one after the other', async () => {
    const { code, lines } = await run(running('memory'), running('agent'));
    expect(code).toBe(0);
    const of = (wanted: string[]) =>
      lines.filter(({ service }) => wanted.includes(service)).map(({ service, msg }) => `${service}: ${msg}`);
    expect(of(['memory', 'agent', 'both'])).toEqual(['memory: started', 'agent: started', 'both: stopping']);
    expect(of(['test'])).toEqual(['test: stopped memory', 'test: stopped agent']);
  });

  it('end with 78 where a setting of one of them is invalid, and say whose it is', async () => {
    const { code, lines } = await run(running('memory'), "async () => { throw new AppError('CONFIG_INVALID'); }");
    expect(code).toBe(78);
    expect(lines).toContainEqual(
      expect.objectContaining({ service: 'agent', msg: 'start failed', code: 'CONFIG_INVALID' }),
    );
  });

  it('end with 1 at an unexpected error, which is none of theirs', async () => {
    const { code, lines } = await run(
      running('memory'),
      "async () => { setImmediate(() => { throw new Error('oh'); }); return new Promise(() => {}); }",
    );
    expect(code).toBe(1);
    expect(lines).toContainEqual(expect.objectContaining({ service: 'both', msg: 'unexpected error' }));
  });

  it('end where a stop takes too long', async () => {
    const { code, lines } = await run(
      'async () => { setInterval(() => {}, 1000); return { stop: () => new Promise(() => {}) }; }',
      running('agent'),
    );
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({ msg: 'stopping' });
  });
});
