import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConfigView } from '@rookery/bus';
import { AppError, type WebhookConfig } from '@rookery/protocol';
import { parseReference, type Vault } from '@rookery/secrets';

/** Lets a delivery in that knows its hook's secret. */
export interface HookGuard {
  /** The hook's configuration; HOOK_REFUSED alike for an unknown or disabled hook and for a wrong or missing secret. */
  admit(name: string, secret: string | null): Promise<WebhookConfig>;
}

export interface HookGuardPorts {
  config: Pick<ConfigView, 'get'>;
  vault: Pick<Vault, 'get'>;
  env: NodeJS.ProcessEnv;
}

// An unknown hook is looked up under this name, so that it takes the same steps as a known one.
const NOBODY = { item: 'nobody', field: 'secret' };
const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();

/** A guard over the live configuration and the vault of channels. */
export function createHookGuard({ config, vault, env }: HookGuardPorts): HookGuard {
  const secretOf = async (hook: WebhookConfig | undefined): Promise<string | undefined> => {
    const reference = hook === undefined ? undefined : parseReference(hook.secret);
    if (reference?.kind === 'env') return env[reference.name] || undefined;
    const { item, field } = reference ?? NOBODY;
    return await vault.get(item, field);
  };
  return {
    async admit(name, secret) {
      const { channels } = config.get('channels');
      const hook = Object.hasOwn(channels, name) ? channels[name] : undefined;
      const expected = await secretOf(hook);
      // Digests have one length, so the comparison takes one time.
      const equal = timingSafeEqual(digest(expected ?? randomBytes(32)), digest(secret ?? ''));
      if (hook === undefined || !hook.enabled || expected === undefined || secret === null || !equal) {
        throw new AppError('HOOK_REFUSED');
      }
      return hook;
    },
  };
}
