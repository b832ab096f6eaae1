import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AppError,
  baseUrlSchema,
  limits,
  providerIdSchema,
  type RpcParams,
  reasoningEffortSchema,
} from '@rookery/protocol';
import { parse } from 'yaml';
import * as z from 'zod';
import { DEEPSEEK } from './presets.ts';

/** A provider as `configure` takes it, and what only a file can say of its models. */
export interface ImportedProvider {
  params: RpcParams<'provider.configure'>;
  disabledModels: string[];
}

const MAX_BYTES = 256 * 1024;
const FILE = 'config.yaml';

const modelSchema = z.strictObject({
  display_name: z.string().min(1).max(200),
  enabled: z.boolean().default(true),
  supports_tools: z.boolean().default(true),
  context_window: z.int().min(1),
  reasoning_efforts: z.array(reasoningEffortSchema).optional(),
  reasoning_effort: reasoningEffortSchema.nullish(),
});
const models = z
  .record(z.string().min(1).max(limits.modelIdChars), modelSchema)
  .refine((value) => Object.keys(value).length > 0);
const providerSchema = z.strictObject({
  type: z.literal('openai_compatible').optional(),
  preset: z.literal('deepseek').optional(),
  display_name: z.string().min(1).max(200).optional(),
  base_url: baseUrlSchema.optional(),
  api_key: z.string().max(limits.apiKeyChars).optional(),
  headers: z.record(z.string().min(1), z.string().max(limits.headerValueChars)).optional(),
  models,
});
const fileSchema = z.object({ providers: z.record(providerIdSchema, providerSchema).optional() });

type FileProvider = z.infer<typeof providerSchema>;

const invalid = (details: Record<string, unknown>): AppError =>
  new AppError('CONFIG_INVALID', { message: `${FILE}: the providers in it are not valid`, details });

function modelsOf(provider: FileProvider): RpcParams<'provider.configure'>['models'] {
  return Object.entries(provider.models).map(([id, model]) => ({
    id,
    displayName: model.display_name,
    contextWindow: model.context_window,
    supportsTools: model.supports_tools,
    ...(model.reasoning_efforts === undefined ? {} : { reasoningEfforts: model.reasoning_efforts }),
    ...(model.reasoning_effort == null ? {} : { reasoningEffort: model.reasoning_effort }),
  }));
}

function imported(id: string, provider: FileProvider): ImportedProvider {
  const disabledModels = Object.entries(provider.models).flatMap(([model, { enabled }]) => (enabled ? [] : [model]));
  if (id === DEEPSEEK.id) {
    if (!provider.api_key) throw invalid({ path: `providers.${id}.api_key`, issue: 'required' });
    return { params: { kind: 'deepseek', apiKey: provider.api_key, models: modelsOf(provider) }, disabledModels };
  }
  if (provider.base_url === undefined) throw invalid({ path: `providers.${id}.base_url`, issue: 'required' });
  return {
    params: {
      kind: 'custom',
      providerId: id,
      displayName: provider.display_name ?? id,
      baseUrl: provider.base_url,
      models: modelsOf(provider),
      ...(provider.api_key ? { apiKey: provider.api_key } : {}),
      ...(provider.headers ? { headers: provider.headers } : {}),
    },
    disabledModels,
  };
}

/** The providers in a config.yaml; CONFIG_INVALID names the place, never what stands there. */
export function readProviders(text: string): ImportedProvider[] {
  let value: unknown;
  try {
    value = parse(text, { uniqueKeys: true, maxAliasCount: 0 });
  } catch {
    throw invalid({ issue: 'yaml' });
  }
  const file = fileSchema.safeParse(value ?? {});
  if (!file.success) {
    const [issue] = file.error.issues;
    throw invalid({ path: issue?.path.join('.') ?? '', issue: issue?.code ?? 'invalid' });
  }
  return Object.entries(file.data.providers ?? {}).map(([id, provider]) => imported(id, provider));
}

/** The providers of the home's config.yaml; none where there is no such file. */
export async function readHomeProviders(home: string): Promise<ImportedProvider[]> {
  const text = await readFile(join(home, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw invalid({ issue: error.code });
  });
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalid({ issue: 'too_large' });
  return readProviders(text);
}
