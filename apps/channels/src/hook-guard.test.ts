import { AppError, type ConfigValue, type WebhookConfig } from '@rookery/protocol';
import { createVault, type VaultStore } from '@rookery/secrets';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHookGuard, type HookGuard } from './hook-guard.ts';

const secret = 'a-secret-of-some-length';
const hook: WebhookConfig = {
  kind: 'webhook',
  enabled: true,
  secret: 'vault("webhook-ci","secret")',
  answerUrl: null,
  providerId: 'demo',
  modelId: 'demo-1',
};

const stored = new Map<string, { value: Uint8Array; revision: number }>();
const store: VaultStore = {
  get: async (key) => stored.get(key) ?? null,
  put: async (key, value) => {
    const revision = (stored.get(key)?.revision ?? 0) + 1;
    stored.set(key, { value: new TextEncoder().encode(value), revision });
    return revision;
  },
};
const vault = createVault(store, 'vault_channel', new Uint8Array(32));
const channels: ConfigValue<'channels'> = { channels: {} };

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'admitted',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

describe('hook guard', () => {
  let guard: HookGuard;
  beforeEach(async () => {
    stored.clear();
    await vault.put('webhook-ci', 'secret', secret);
    channels.channels = { ci: hook };
    guard = createHookGuard({
      config: { get: () => channels as never },
      vault,
      env: { CI_SECRET: 'from the environment' },
    });
  });

  it('admits the secret of the vault, and a new one at once', async () => {
    expect(await guard.admit('ci', secret)).toEqual(hook);
    await vault.put('webhook-ci', 'secret', 'another secret here');
    expect(await codeOf(guard.admit('ci', secret))).toBe('HOOK_REFUSED');
    expect(await guard.admit('ci', 'another secret here')).toEqual(hook);
  });

  it('admits a secret that the environment holds', async () => {
    channels.channels = { ci: { ...hook, secret: 'env("CI_SECRET")' } };
    expect(await codeOf(guard.admit('ci', 'from the environment'))).toBe('admitted');
  });

  it.each([
    ['an unknown hook', 'other', secret],
    ['a member of every object', 'constructor', secret],
    ['a wrong secret', 'ci', `${secret}x`],
    ['an empty secret', 'ci', ''],
    ['no secret', 'ci', null],
    ['the reference in place of the secret', 'ci', hook.secret],
  ])('refuses %s alike', async (_what, name, given) => {
    expect(await codeOf(guard.admit(name, given))).toBe('HOOK_REFUSED');
  });

  it('refuses a disabled hook, one whose secret is gone, and one whose configuration holds no reference', async () => {
    channels.channels = { ci: { ...hook, enabled: false } };
    expect(await codeOf(guard.admit('ci', secret))).toBe('HOOK_REFUSED');
    channels.channels = { ci: { ...hook, secret: 'env("NOT_SET")' } };
    expect(await codeOf(guard.admit('ci', ''))).toBe('HOOK_REFUSED');
    channels.channels = { ci: { ...hook, secret } };
    expect(await codeOf(guard.admit('ci', secret))).toBe('HOOK_REFUSED');
    channels.channels = { ci: hook };
    await vault.remove('webhook-ci');
    expect(await codeOf(guard.admit('ci', ''))).toBe('HOOK_REFUSED');
  });
});
