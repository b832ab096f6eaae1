import * as z from 'zod';
import { limits } from './limits.ts';
import { idSchema } from './records.ts';

/** Sections of the `config` bucket: one key each, revisioned and watched. */

/** A name that a person reads: not empty, and without control characters. */
export const printable = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}]+$/u, 'has control characters');

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'] as const;
export const reasoningEffortSchema = z.enum(reasoningEfforts);

/** The scripted provider that the supervisor runs. */
export const DEMO_PROVIDER = 'demo';

/** True where the scripted provider may be used: only while there is nothing better. */
export function isDemoOffered({ providers }: { providers: Readonly<Record<string, unknown>> }): boolean {
  return Object.keys(providers).length === 0;
}

export const PROVIDER_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const providerIdSchema = z.string().regex(PROVIDER_ID);
/** Ids that a custom provider cannot take. */
export const reservedProviderIds: readonly string[] = ['deepseek', 'scripted', DEMO_PROVIDER];

export const baseUrlSchema = z
  .string()
  .max(limits.baseUrlChars)
  .transform((value) => value.replace(/\/+$/, ''))
  .refine((value) => {
    // A bare `?` or `#` parses to an empty query, and blanks are dropped: paths are appended to the text as it is.
    if (/[?#\s\\]/.test(value) || !URL.canParse(value)) return false;
    const url = new URL(value);
    const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' && plain;
  }, 'must be an http or https URL without user info, query or fragment');

export const modelConfigSchema = z.strictObject({
  displayName: printable(200),
  enabled: z.boolean(),
  supportsTools: z.boolean(),
  contextWindow: z.int().min(1),
  reasoningEfforts: z.array(reasoningEffortSchema).default([]),
  reasoningEffort: reasoningEffortSchema.nullable().default(null),
});

export const providerConfigSchema = z.strictObject({
  displayName: printable(200),
  origin: z.enum(['builtin', 'custom']),
  baseUrl: baseUrlSchema,
  /** Reference into vault_provider, or null for endpoints without a key. */
  apiKey: z.string().max(300).nullable(),
  /** Header name to vault reference: header values are secrets too. */
  headers: z.record(z.string(), z.string().max(300)).default({}),
  models: z.record(printable(limits.modelIdChars), modelConfigSchema),
});

export const webhookNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/);
export const webhookConfigSchema = z.strictObject({
  kind: z.literal('webhook'),
  enabled: z.boolean(),
  /** Reference into vault_channel. */
  secret: z.string().max(300),
  /** Where answers are posted; null = answers stay in the thread. */
  answerUrl: baseUrlSchema.nullable(),
  providerId: providerIdSchema,
  modelId: printable(limits.modelIdChars),
});

export const configSections = {
  providers: z.strictObject({ providers: z.record(providerIdSchema, providerConfigSchema) }),
  channels: z.strictObject({ channels: z.record(webhookNameSchema, webhookConfigSchema) }),
  permissions: z.strictObject({ defaultProfile: idSchema }),
  /** Which agent and world each edge speaks for, and the public nkeys that sign a person's requests. */
  edges: z.strictObject({
    /** Id of this home, from the journal's metadata; null before provisioning. */
    homeId: z.string().max(100).nullable(),
    edges: z.record(z.string(), z.strictObject({ agentId: idSchema, world: idSchema, publicKey: z.string().max(100) })),
  }),
} as const;

export type ConfigSection = keyof typeof configSections;
export type ConfigValue<S extends ConfigSection> = z.infer<(typeof configSections)[S]>;
export type ProviderConfig = z.infer<typeof providerConfigSchema>;
export type ModelConfig = z.infer<typeof modelConfigSchema>;
export type WebhookConfig = z.infer<typeof webhookConfigSchema>;

/** A section's value where nothing was saved yet. */
export const configDefaults: { [S in ConfigSection]: ConfigValue<S> } = {
  providers: { providers: {} },
  channels: { channels: {} },
  permissions: { defaultProfile: 'danger-full-access' },
  edges: { homeId: null, edges: {} },
};

/** The world and agent that provision makes. */
export const DEFAULT_WORLD = 'home';
export const DEFAULT_AGENT = 'main';
