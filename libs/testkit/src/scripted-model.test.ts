import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type ModelScript, type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { pieces } from './scripted-model-steps.ts';

const open: ScriptedModel[] = [];
async function model(script?: ModelScript): Promise<ScriptedModel> {
  const started = await startScriptedModel(script ? { script } : {});
  open.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((started) => started.stop()));
});

interface WireCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}
interface Answer {
  status: number;
  texts: string[];
  calls: WireCall[];
  finish: string | null;
  usage: unknown;
  done: boolean;
}
type Message = Record<string, unknown>;

/** A plain reader of the wire form, which knows only the standard dialect. */
async function chat(url: string, messages: Message[], signal?: AbortSignal): Promise<Answer> {
  const init = { method: 'POST', body: JSON.stringify({ model: 'm', messages, stream: true }) };
  const response = await fetch(`${url}/chat/completions`, signal ? { ...init, signal } : init);
  const answer: Answer = { status: response.status, texts: [], calls: [], finish: null, usage: null, done: false };
  const body = await response.text();
  for (const line of body.split('\n\n').filter((part) => part.startsWith('data: '))) {
    if (line === 'data: [DONE]') {
      answer.done = true;
      continue;
    }
    const { choices, usage } = JSON.parse(line.slice(6));
    answer.usage = usage ?? answer.usage;
    const [choice] = choices;
    if (!choice) continue;
    if (choice.delta.content) answer.texts.push(choice.delta.content);
    answer.finish = choice.finish_reason ?? answer.finish;
    for (const { index, ...call } of choice.delta.tool_calls ?? []) {
      const known = answer.calls[index];
      if (known) known.function.arguments += call.function.arguments;
      else answer.calls[index] = call;
    }
  }
  return answer;
}

const user = (content: string): Message => ({ role: 'user', content });
const result = (call: WireCall | undefined, content: string): Message => ({
  role: 'tool',
  tool_call_id: call?.id,
  content,
});

describe('scripted model', () => {
  it('plays a list of answers and records the requests', async () => {
    const { url, requests } = await model([
      [{ text: 'hello', deltas: 2 }, { usage: { prompt: 3, completion: 2, cached: 1 } }],
      [{ tool: 'list', arguments: { path: '.' } }],
    ]);
    expect(await chat(url, [user('a')])).toEqual({
      status: 200,
      texts: ['hel', 'lo'],
      calls: [],
      finish: 'stop',
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } },
      done: true,
    });
    expect(await chat(url, [user('b')])).toMatchObject({
      calls: [{ function: { name: 'list', arguments: '{"path":"."}' } }],
      finish: 'tool_calls',
    });
    expect(requests.map(({ n, state, body }) => [n, state, body.messages])).toEqual([
      [1, 'answered', [user('a')]],
      [2, 'answered', [user('b')]],
    ]);
    const listed = await (await fetch(url.replace('/v1', '/requests'))).json();
    expect(listed).toMatchObject([{ user: 'a', model: 'm', messages: 1 }, { user: 'b' }]);
  });

  it('fails in the ways that it is told', async () => {
    const { url, requests } = await model((_, n) =>
      n === 1
        ? [{ status: 429, headers: { 'retry-after': '1' } }]
        : n === 2
          ? [{ text: 'part' }, { cut: true }]
          : n === 3
            ? [{ raw: 'garbage\n\n' }, { finish: null }]
            : [{ hang: n === 4 ? 'headers' : 'stream' }],
    );
    expect((await chat(url, [])).status).toBe(429);
    await expect(chat(url, [])).rejects.toThrow();
    expect(await chat(url, [])).toMatchObject({ status: 200, texts: [], finish: null, done: true });
    for (const n of [4, 5]) {
      const abort = new AbortController();
      const hanging = chat(url, [], abort.signal).catch((error: Error) => error.name);
      while (requests.length < n) await new Promise((resolve) => setTimeout(resolve, 5));
      abort.abort();
      expect(await hanging).toBe('AbortError');
    }
  });

  it('follows a directive through its tool rounds to its text', async () => {
    const { url } = await model();
    const start = { name: 'process_start', arguments: { command: 'x' } };
    const waitFor = { name: 'process_wait', arguments: { processId: '$result' } };
    const directive = JSON.stringify({ rounds: [[start, start], [waitFor]], text: 'all done', deltas: 4, delayMs: 1 });
    const messages: Message[] = [user('earlier'), { role: 'assistant', content: 'x' }];
    messages.push(user(`please #script ${directive} thank you`));
    const first = await chat(url, messages);
    expect(first.calls.map((call) => call.function.name)).toEqual(['process_start', 'process_start']);
    expect(new Set(first.calls.map((call) => call.id)).size).toBe(2);
    messages.push({ role: 'assistant', content: null, tool_calls: first.calls });
    for (const call of first.calls) messages.push(result(call, '{"processId":"process_7","ok":true}'));
    messages.push(user('a steer'));
    const second = await chat(url, messages);
    expect(second.calls.map((call) => call.function)).toEqual([
      { name: 'process_wait', arguments: '{"processId":"process_7"}' },
    ]);
    messages.push({ role: 'assistant', content: null, tool_calls: second.calls }, result(second.calls[0], '{}'));
    const third = await chat(url, messages);
    expect([third.texts.join(''), third.texts.length, third.finish]).toEqual(['all done', 4, 'stop']);
    messages.push({ role: 'assistant', content: 'all done' }, user('next'));
    expect((await chat(url, messages)).texts).toEqual(['ok']);
  });

  it('fails by directive, and says so where the directive is wrong', async () => {
    const { url } = await model();
    const cut = { text: 'abcdef', deltas: 6, fail: { at: 0, cutAfter: 2 } };
    await expect(chat(url, [user(`#script ${JSON.stringify(cut)}`)])).rejects.toThrow();
    expect((await chat(url, [user('#script {"fail":{"at":0,"status":503}}')])).status).toBe(503);
    expect((await chat(url, [user('#script {"text":')])).status).toBe(400);
  });

  it('cuts text into as many pieces as asked', () => {
    expect(pieces('abcdefg', { deltas: 3 })).toEqual(['abc', 'de', 'fg']);
    expect(pieces('ab', { deltas: 5 })).toEqual(['a', 'b']);
    expect(pieces('a🙂bc', { chunkChars: 2 })).toEqual(['a🙂', 'bc']);
    expect(pieces('', { deltas: 2 })).toEqual([]);
  });

  it('runs as a process of its own', async () => {
    const main = fileURLToPath(new URL('scripted-model-main.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', main], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(child.stdout, 'data');
      const ready = JSON.parse(String(line));
      expect((await chat(ready.url, [user('#script {"text":"from outside"}')])).texts).toEqual(['from outside']);
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
