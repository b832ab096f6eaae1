import { createConnection, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connectBus, serveCommands } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import {
  commitOf,
  connectAs,
  connectAsStranger,
  eventually,
  type NatsConnection,
  readStream,
  refusals,
  sleep,
  startNats,
  type TestNats,
} from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * What each NATS user may do, written by hand: nothing here is read from the table that the server's configuration is
 * generated from. A subject that is not on a user's list must be refused.
 */
const users = ['provision', 'supervisor', 'gateway', 'agent', 'tool', 'memory', 'channels'] as const;
type User = (typeof users)[number];
const services: User[] = ['gateway', 'agent', 'tool', 'memory', 'channels'];
const readers: User[] = ['gateway', 'agent', 'memory', 'channels'];

/** Subjects with everyone who may publish there. `provision` may use the whole JetStream API and is tried apart. */
const publishers: [string, User[]][] = [
  ['journal.config', ['gateway']],
  ['journal.canary', ['agent']],
  ['journal.home.thread.t.turns', ['agent']],
  ['journal.home.thread.t.run.r', ['agent']],
  ['journal.home.thread.t.approval.a', ['agent']],
  ['journal.home.thread.t.process.p', ['tool']],
  ['journal.home.thread.t.other', []],
  ['journal.home.thread.t.run.r.more', []],
  ['journal.home.task.t', ['agent']],
  ['journal.home.channel.webhook.a.c', ['channels']],
  ['journal.home.erasures', []],
  ['journal.other', []],
  ['memory.home.main.memory.m', ['memory']],
  ['memory.home.main.evidence.e', ['memory']],
  ['memory.home.main.preference.p', ['memory']],
  ['memory.home.erasures', []],
  ['$KV.config.providers', ['gateway', 'provision']],
  ['$KV.tokens.t', ['gateway']],
  ['$KV.vault_provider.v', ['gateway']],
  ['$KV.vault_channel.v', ['gateway']],
  ['$KV.vault_tool.v', []],
  ['$KV.leases.instance.gateway.i', ['gateway']],
  ['$KV.leases.instance.agent.i', ['agent']],
  ['$KV.leases.instance.tool.i', ['tool']],
  ['$KV.leases.instance.memory.i', ['memory']],
  ['$KV.leases.instance.channels.i', ['channels']],
  ['$KV.leases.channel.c', ['channels']],
  ['$KV.leases.other', []],
  ['$KV.presence.instance.gateway.i', ['gateway']],
  ['$KV.presence.instance.agent.i', ['agent']],
  ['$KV.presence.instance.tool.i', ['tool']],
  ['$KV.presence.instance.memory.i', ['memory']],
  ['$KV.presence.instance.channels.i', ['channels']],
  ['$O.BLOBS.C.x', ['agent', 'channels']],
  ['$O.BLOBS.M.x', ['agent', 'channels']],
  ['cmd.agent.any.turn.start', ['gateway', 'channels']],
  ['cmd.agent.h-0-b.run.cancel', ['agent']],
  ['cmd.agent.h-0-b.run.steer', ['agent']],
  ['cmd.agent.h-0-b.turn.start', []],
  ['cmd.tool.main.invoke', ['agent']],
  ['cmd.tool.main.inspect', ['agent']],
  ['cmd.tool.main.workspace.prepare', ['agent']],
  ['cmd.tool.main.process.read', ['gateway', 'agent']],
  ['cmd.tool.main.process.stop', ['gateway', 'agent']],
  ['cmd.memory.any.memory.create', ['gateway', 'agent']],
  ['cmd.memory.h-0-b.memory.create', []],
  ['cmd.channels.any.hook.receive', ['gateway']],
  ['cmd.channels.h-0-b.hook.receive', []],
  ['cmd.supervisor.any.runtime.shutdown', ['gateway']],
  ['cmd.supervisor.any.runtime.status', ['gateway']],
  ['cmd.supervisor.any.other', []],
  ['$SRV.PING', ['gateway']],
  ['$SRV.STATS.agent', ['gateway']],
  ['_INBOX_agent.forged', []],
  ['_INBOX_gateway.forged', []],
  ['elsewhere', []],
  ['$SYS.REQ.SERVER.PING.VARZ', []],
  ['$SYS.REQ.SERVER.PING.HEALTHZ', []],
];

/** Calls of the JetStream API with everyone but `provision` who may make them. */
const apiCallers: [string, User[]][] = [
  ['$JS.API.INFO', ['supervisor', ...services]],
  ['$JS.API.STREAM.CREATE.X', []],
  ['$JS.API.STREAM.UPDATE.JOURNAL', []],
  ['$JS.API.STREAM.DELETE.JOURNAL', []],
  ['$JS.API.STREAM.PURGE.JOURNAL', []],
  ['$JS.API.STREAM.MSG.DELETE.JOURNAL', []],
  ['$JS.API.STREAM.MSG.GET.JOURNAL', []],
  ['$JS.API.STREAM.SNAPSHOT.JOURNAL', []],
  ['$JS.API.STREAM.RESTORE.JOURNAL', []],
  ['$JS.API.STREAM.LIST', []],
  ['$JS.API.STREAM.NAMES', []],
  ['$JS.API.STREAM.PURGE.MEMORY', []],
  ['$JS.API.STREAM.MSG.DELETE.MEMORY', []],
  ['$JS.API.STREAM.PURGE.KV_config', []],
  ['$JS.API.STREAM.INFO.JOURNAL', readers],
  ['$JS.API.STREAM.INFO.MEMORY', ['memory']],
  ['$JS.API.DIRECT.GET.JOURNAL', readers],
  ['$JS.API.DIRECT.GET.JOURNAL.journal.home.thread.t.turns', readers],
  ['$JS.API.DIRECT.GET.JOURNAL.journal.home.thread.t.run.r', [...readers, 'tool']],
  ['$JS.API.DIRECT.GET.JOURNAL.journal.home.thread.t.process.p', [...readers, 'tool']],
  ['$JS.API.DIRECT.GET.JOURNAL.journal.config', readers],
  ['$JS.API.DIRECT.GET.MEMORY', ['memory']],
  ['$JS.API.DIRECT.GET.MEMORY.memory.home.main.memory.m', ['memory']],
  ['$JS.API.CONSUMER.CREATE.JOURNAL.c', readers],
  ['$JS.API.CONSUMER.CREATE.JOURNAL.c.journal.>', readers],
  ['$JS.API.CONSUMER.CREATE.MEMORY.c', ['memory']],
  ['$JS.API.CONSUMER.DURABLE.CREATE.JOURNAL.c', []],
  ['$JS.API.CONSUMER.MSG.NEXT.JOURNAL.c', readers],
  ['$JS.API.CONSUMER.LIST.JOURNAL', []],
  ['$JS.API.CONSUMER.CREATE.JOURNAL.agent-runs', []],
  ['$JS.API.CONSUMER.CREATE.JOURNAL.agent-runs.journal.*.thread.*.turns', []],
  ['$JS.API.CONSUMER.DELETE.JOURNAL.agent-runs', []],
  ['$JS.API.CONSUMER.INFO.JOURNAL.agent-runs', ['agent']],
  ['$JS.API.CONSUMER.MSG.NEXT.JOURNAL.agent-runs', ['agent']],
  ['$JS.ACK.JOURNAL.agent-runs.1.2.3.4.5', ['agent']],
  ['$JS.API.DIRECT.GET.KV_config.$KV.config.providers', services],
  ['$JS.API.DIRECT.GET.KV_leases.$KV.leases.instance.agent.i', ['supervisor', ...services]],
  ['$JS.API.DIRECT.GET.KV_presence.$KV.presence.instance.agent.i', services],
  ['$JS.API.CONSUMER.CREATE.KV_presence.c.$KV.presence.>', services],
  ['$JS.API.DIRECT.GET.KV_tokens.$KV.tokens.t', ['gateway']],
  ['$JS.API.DIRECT.GET.KV_vault_provider.$KV.vault_provider.v', ['gateway', 'agent']],
  ['$JS.API.DIRECT.GET.KV_vault_channel.$KV.vault_channel.v', ['gateway', 'channels']],
  ['$JS.API.DIRECT.GET.KV_vault_tool.$KV.vault_tool.v', []],
  ['$JS.API.STREAM.MSG.GET.KV_vault_provider', []],
  ['$JS.API.CONSUMER.CREATE.KV_vault_provider.c.$KV.vault_provider.>', ['gateway', 'agent']],
  ['$JS.API.CONSUMER.CREATE.KV_vault_channel.c.$KV.vault_channel.>', ['gateway', 'channels']],
  ['$JS.API.CONSUMER.CREATE.KV_vault_tool.c.$KV.vault_tool.>', []],
  ['$JS.API.CONSUMER.CREATE.KV_tokens.c.$KV.tokens.>', ['gateway']],
  ['$JS.API.CONSUMER.CREATE.KV_vault_tool.c', []],
];

const subscribers: [string, User[]][] = [
  ['>', []],
  ['*', []],
  ['journal.>', []],
  ['memory.>', []],
  ['$KV.>', []],
  ['$KV.vault_provider.>', []],
  ['$JS.API.>', []],
  ['$JS.ACK.>', []],
  ['$O.>', []],
  ['$SYS.>', []],
  ['_INBOX.>', []],
  ['_INBOX_*.>', []],
  ['cmd.>', []],
  ['cmd.agent.>', ['agent']],
  ['cmd.agent.any.turn.start', ['agent']],
  ['cmd.tool.>', ['tool']],
  ['cmd.memory.>', ['memory']],
  ['cmd.channels.>', ['channels']],
  ['cmd.supervisor.>', ['supervisor']],
  ['$SRV.PING', services],
  ...users.map((user): [string, User[]] => [`_INBOX_${user}.>`, [user]]),
];

let nats: TestNats;
const connections = new Map<User, NatsConnection>();
const violations = new Map<User, Set<string>>();

beforeAll(async () => {
  nats = await startNats();
  for (const user of users) {
    const nc = await connectAs(nats, user);
    connections.set(user, nc);
    violations.set(user, refusals(nc));
  }
});
afterAll(async () => {
  for (const nc of connections.values()) await nc.close();
  await nats?.stop();
});

function connectionOf(user: User): { nc: NatsConnection; refused: Set<string> } {
  const nc = connections.get(user);
  const refused = violations.get(user);
  if (nc === undefined || refused === undefined) throw new Error(`no connection of ${user}`);
  return { nc, refused };
}

/** What the server refused this user among the subjects. The server answers in order, so a flush shows all. */
async function tryPublish(user: User, subjects: string[]): Promise<string[]> {
  const { nc, refused } = connectionOf(user);
  for (const subject of subjects) nc.publish(subject, 'x');
  await nc.flush();
  await sleep(20);
  return subjects.filter((subject) => !refused.has(`publish ${subject}`));
}

describe('publish', () => {
  it.each(users)('%s reaches its own subjects and no other', async (user) => {
    const allowed = await tryPublish(
      user,
      publishers.map(([subject]) => subject),
    );
    expect(allowed).toEqual(publishers.filter(([, may]) => may.includes(user)).map(([subject]) => subject));
  });

  it.each(users.filter((user) => user !== 'provision'))(
    '%s makes no other JetStream call than its own',
    async (user) => {
      const allowed = await tryPublish(
        user,
        apiCallers.map(([subject]) => subject),
      );
      expect(allowed).toEqual(apiCallers.filter(([, may]) => may.includes(user)).map(([subject]) => subject));
    },
  );
});

describe('subscribe', () => {
  it.each(users)('%s hears its own commands and inbox, and nothing else', async (user) => {
    const { nc } = connectionOf(user);
    const refused = new Set<string>();
    const open = subscribers.map(([subject]) =>
      nc.subscribe(subject, {
        callback: (error) => {
          if (error) refused.add(subject);
        },
      }),
    );
    await nc.flush();
    await sleep(20);
    for (const subscription of open) subscription.unsubscribe();
    const heard = subscribers.map(([subject]) => subject).filter((subject) => !refused.has(subject));
    expect(heard).toEqual(subscribers.filter(([, may]) => may.includes(user)).map(([subject]) => subject));
  });
});

describe('the door', () => {
  it('lets nobody in without a key, with a wrong key or a password', async () => {
    const stranger = await startNats({ provisioned: false });
    try {
      const seed = new TextEncoder().encode(stranger.seed('agent'));
      for (const options of [{}, { password: 'agent' }, { seed }]) {
        await expect(connectAsStranger(nats.url, options)).rejects.toThrow(/authorization violation/i);
      }
    } finally {
      await stranger.stop();
    }
  });

  it('is open on loopback only, and has no second one', async () => {
    const port = Number(new URL(nats.url).port);
    const outside = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    for (const host of ['127.0.0.2', ...outside]) {
      const reached = await new Promise<boolean>((resolve) => {
        const socket = createConnection(port, host, () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      });
      expect(reached, host).toBe(false);
    }
    // The usual port of its HTTP monitor stays free for others.
    const probe = createServer();
    await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(8222, '127.0.0.1', resolve));
    await new Promise((resolve) => probe.close(resolve));
  });
});

describe('forged traffic', () => {
  it('is dropped by responders: replies into the journal, and journal messages pushed as commands', async () => {
    const agent = await connectBus({ url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'agent' });
    const handled: string[] = [];
    const server = await serveCommands(
      agent,
      { service: 'agent', instance: 'h-0-b', version: '0' },
      {
        'turn.start': async ({ commandId }) => {
          handled.push(commandId);
          return { result: {} };
        },
      },
    );
    try {
      const { nc } = connectionOf('gateway');
      const lastSeq = async () => (await openJournal(agent).info()).lastSeq;
      const before = await lastSeq();
      const request = { v: 1, method: 'turn.start', params: {}, commandId: 'forged', agentId: 'main', world: 'home' };
      const text = JSON.stringify(request);
      for (const reply of ['journal.home.thread.t.turns', 'memory.home.main.memory.m', '$KV.config.providers', '']) {
        nc.publish('cmd.agent.any.turn.start', text, reply === '' ? {} : { reply });
      }
      nc.publish('$SRV.PING', '', { reply: 'journal.home.thread.t.turns' });
      await nc.flush();
      await eventually('four dropped requests', () => server.stats().dropped === 4);
      expect(await lastSeq()).toBe(before);

      // A consumer that a reader of the journal may make, pointed at the subject of a command. The server pushes only
      // where somebody subscribes to exactly that subject; then those with a wildcard hear it too.
      await agent.nc.request('journal.canary', text);
      const { dropped } = server.stats();
      const exact = agent.nc.subscribe('cmd.agent.h-0-b.turn.start', { callback: () => {} });
      await agent.nc.flush();
      const config = { name: 'forger', deliver_subject: 'cmd.agent.h-0-b.turn.start', ack_policy: 'none' };
      const made = await nc.request(
        '$JS.API.CONSUMER.CREATE.JOURNAL.forger',
        JSON.stringify({ stream_name: 'JOURNAL', config: { ...config, deliver_policy: 'all' } }),
      );
      expect(made.json<{ error?: unknown }>().error).toBeUndefined();
      await eventually('what the server pushes to be dropped', () => server.stats().dropped > dropped);
      exact.unsubscribe();
      expect(handled).toEqual([]);

      const honest = await nc.request('cmd.agent.any.turn.start', JSON.stringify({ ...request, commandId: 'honest' }));
      expect(honest.json()).toEqual({ ok: true, result: {} });
      expect(handled).toEqual(['honest']);
    } finally {
      await server.stop();
      await agent.close();
    }
  });

  it('that the server itself was made to write into the journal is foreign, and no writer stumbles over it', async () => {
    const agent = await connectBus({ url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'agent' });
    try {
      const subject = 'journal.home.thread.forged.turns';
      const { nc } = connectionOf('tool');
      nc.publish('$JS.API.INFO', '', { reply: subject });
      await nc.flush();
      const isThere = async () => (await readStream(nats, 'JOURNAL')).some((message) => message.subject === subject);
      await eventually('the answer of the server in the journal', isThere);
      const journal = openJournal(agent);
      expect(await journal.readSubject(subject, 0)).toEqual([]);
      const result = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
      expect(result.outcome).toBe('committed');
    } finally {
      await agent.close();
    }
  });
});
