// The scripted model as a process of its own, which outlives the killing of others:
//   node --import tsx libs/testkit/src/scripted-model-main.ts --port 0
// Prints one line, {"type":"scripted_model.ready","url","port","pid"}, and ends on SIGINT or SIGTERM.
import { parseArgs } from 'node:util';
import { startScriptedModel } from './scripted-model.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const model = await startScriptedModel({ port: Number(values.port) });
const { url, port } = model;
process.stdout.write(`${JSON.stringify({ type: 'scripted_model.ready', url, port, pid: process.pid })}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void model.stop());
