import i18next from 'i18next';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RpcError, rpcErrorOf } from '../connection/rpc-error.ts';
import { en } from '../i18n/en.ts';
import { draftOf, drafts, keepDraft, type Outgoing } from '../state/drafts.ts';
import { ui } from '../state/stores.ts';
import { clearStored, resendAll, sendOutgoing } from './outgoing.ts';
import { attachConnection, type LiveConnection } from './rpc.ts';

/** A request that the server has not answered yet. */
interface Asked {
  method: string;
  id: unknown;
  answer: (result: object) => void;
  fail: (error: RpcError) => void;
}

/** The port to the server: what was asked, in order, and answers when the test gives them. */
function startServer(): { asked: Asked[]; connected: boolean } {
  const server = { asked: [] as Asked[], connected: true };
  const request = (method: string, params: object) =>
    new Promise((answer, fail) => {
      server.asked.push({ method, id: 'clientRequestId' in params ? params.clientRequestId : null, answer, fail });
    });
  attachConnection({
    request: request as LiveConnection['request'],
    get connected() {
      return server.connected;
    },
    retryNow: () => undefined,
  });
  return server;
}

const refusal = (code: string, data: object = {}) =>
  rpcErrorOf({ code: -32030, message: code, data: { code, ...data } });
const turn = (id: string, content = 'hello'): Outgoing => ({
  kind: 'turn',
  params: { threadId: 't', branchId: 'b', content, providerId: 'p', modelId: 'm', clientRequestId: id },
});
const draft = () => draftOf(drafts.get(), 't');
/** Lets what was answered be taken. */
const settle = () => vi.advanceTimersByTimeAsync(0);

let server: ReturnType<typeof startServer>;
beforeAll(async () => {
  await i18next.init({ lng: 'en', resources: { en: { translation: en } }, keySeparator: false, nsSeparator: false });
});
beforeEach(() => {
  vi.useFakeTimers();
  server = startServer();
  ui.set((state) => ({ ...state, toasts: [] }));
  keepDraft('t', { text: 'hello' });
});
afterEach(() => {
  keepDraft('t', { text: '' });
  vi.useRealTimers();
});

function ask(id: string): Asked {
  void sendOutgoing('t', turn(id));
  const asked = server.asked.at(-1);
  if (asked?.id !== id) throw new Error(`${id} was not sent`);
  return asked;
}

describe('a message on its way', () => {
  it('leaves the composer when it is taken, and gives the text back when it is refused', async () => {
    ask('one').answer({});
    await settle();
    expect(draft()).toEqual({ text: '' });
    keepDraft('t', { text: 'again' });
    ask('two').fail(refusal('THREAD_ARCHIVED'));
    await settle();
    expect(draft()).toEqual({ text: 'again' });
    expect(ui.get().toasts).toHaveLength(1);
  });

  it.each([
    ['is taken', (asked: Asked) => asked.answer({})],
    ['is refused', (asked: Asked) => asked.fail(refusal('THREAD_ARCHIVED'))],
    ['stays unknown', (asked: Asked) => asked.fail(new RpcError('timeout', 'TIMEOUT', ''))],
  ])('changes nothing of a text that was taken back meanwhile when it %s', async (_how, end) => {
    const asked = ask('one');
    keepDraft('t', { text: 'hello, and more' });
    end(asked);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(draft()).toEqual({ text: 'hello, and more' });
    expect(server.asked).toHaveLength(1);
  });

  it('does not hold up another one that is written in its place', async () => {
    const first = ask('one');
    keepDraft('t', { text: 'other' });
    const second = ask('two');
    first.answer({});
    await settle();
    expect(draft()).toMatchObject({ text: 'other', outgoing: { params: { clientRequestId: 'two' } } });
    second.answer({});
    await settle();
    expect(draft()).toEqual({ text: '' });
  });

  it.each([
    ['TIMEOUT', () => new RpcError('timeout', 'TIMEOUT', '')],
    ['JOURNAL_AMBIGUOUS', () => refusal('JOURNAL_AMBIGUOUS', { retry: 'after-check' })],
    ['RUN_HOLDER_SILENT', () => refusal('RUN_HOLDER_SILENT')],
    ['SERVICE_UNAVAILABLE', () => refusal('SERVICE_UNAVAILABLE', { details: { failure: 'ambiguous' } })],
    ['INTERNAL', () => rpcErrorOf({ code: -32603, message: 'x', data: { code: 'INTERNAL', retry: 'after-check' } })],
  ])('is sent again with its own id while the connection stands, after %s', async (_code, error) => {
    ask('one').fail(error());
    await vi.advanceTimersByTimeAsync(2000);
    expect(server.asked.map(({ id }) => id)).toEqual(['one', 'one']);
    expect(draft()).toMatchObject({ text: 'hello', outgoing: { params: { clientRequestId: 'one' } } });
    server.asked[1]?.fail(error());
    await vi.advanceTimersByTimeAsync(4000);
    expect(server.asked).toHaveLength(3);
    expect(ui.get().toasts).toHaveLength(1);
    server.asked[2]?.answer({});
    await settle();
    expect(draft()).toEqual({ text: '' });
  });

  it('waits for the next connection where this one is lost', async () => {
    const asked = ask('one');
    server.connected = false;
    asked.fail(new RpcError('disconnected', 'DISCONNECTED', ''));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.asked).toHaveLength(1);
    server.connected = true;
    resendAll();
    expect(server.asked.map(({ id }) => id)).toEqual(['one', 'one']);
    server.asked[1]?.answer({});
    await settle();
    expect(draft()).toEqual({ text: '' });
  });

  it('leaves the composer when an event shows that it is stored, and is not sent again', async () => {
    ask('one').fail(new RpcError('timeout', 'TIMEOUT', ''));
    await settle();
    clearStored({ stored: new Set(['one']) });
    expect(draft()).toEqual({ text: '' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.asked).toHaveLength(1);
  });

  it('becomes a turn where the run that it was for has ended, unless it was taken back', async () => {
    const steer = (id: string): Outgoing => {
      const { params } = turn(`${id}-turn`) as Outgoing & { kind: 'turn' };
      return { kind: 'steer', runId: 'r', clientRequestId: id, otherwise: params };
    };
    void sendOutgoing('t', steer('one'));
    server.asked[0]?.fail(refusal('RUN_SETTLED'));
    await settle();
    expect(server.asked.map(({ method, id }) => [method, id])).toEqual([
      ['run.steer', 'one'],
      ['turn.start', 'one-turn'],
    ]);
    server.asked[1]?.answer({});
    await settle();
    expect(draft()).toEqual({ text: '' });

    keepDraft('t', { text: 'hello' });
    void sendOutgoing('t', steer('two'));
    keepDraft('t', { text: 'hello, edited' });
    server.asked[2]?.fail(refusal('RUN_SETTLED'));
    await settle();
    expect(server.asked).toHaveLength(3);
    expect(draft()).toEqual({ text: 'hello, edited' });
  });
});
