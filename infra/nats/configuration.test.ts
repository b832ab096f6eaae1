import { permissions } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { natsConfiguration, natsUsers } from './configuration.ts';

const keys = Object.fromEntries(natsUsers.map((user) => [user, `U${user.toUpperCase()}`]));
const listen = { host: '127.0.0.1', port: 4222 };
const text = natsConfiguration({ listen, folder: '/home/me/.rookery/nats', keys });

it('has the settings that durability and safety rest on', () => {
  expect(text).toContain('sync_interval: always');
  expect(text).toContain('listen: "127.0.0.1:4222"');
  expect(text).toContain('max_payload: 1MB');
  expect(text).toContain('server_name: rookery');
  expect(text).toContain('system_account: SYS');
  expect(text).not.toMatch(/http(s)?(_port)?:|websocket|no_auth_user|leafnodes/);
});

it('has each user once, by its public key, and no seed', () => {
  for (const user of natsUsers) expect(text.split(`nkey: U${user.toUpperCase()}`)).toHaveLength(2);
  expect(natsUsers).toContain('system');
  expect(text).not.toMatch(/\bSU[A-Z0-9]{20,}/);
});

it('gives every user of account ROOKERY its own lists', () => {
  for (const { user, publish } of permissions) {
    const block = text.slice(text.indexOf(`# ${user}:`));
    const own = block.slice(0, block.indexOf('\n      }\n'));
    for (const subject of [...publish.allow, ...publish.deny]) expect(own).toContain(JSON.stringify(subject));
    expect(own).toContain(`"_INBOX_${user}.>"`);
  }
});

it('lets only those answer who receive requests', () => {
  const provision = text.slice(text.indexOf('# provision:'), text.indexOf('# supervisor:'));
  expect(provision).not.toContain('allow_responses');
  expect(text.slice(text.indexOf('# agent:'))).toContain('allow_responses: { max: -1, expires: "24h" }');
});

it('quotes what a path can hold and brackets IPv6', () => {
  const odd = natsConfiguration({ listen: { host: '::1', port: 1 }, folder: '/tmp/a "b" # c', keys });
  expect(odd).toContain('store_dir: "/tmp/a \\"b\\" # c/store"');
  expect(odd).toContain('listen: "[::1]:1"');
});

it('refuses to leave a user without a key', () => {
  expect(() => natsConfiguration({ listen, folder: '/x', keys: {} })).toThrow(/no nkey/);
});
