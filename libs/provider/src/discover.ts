import { limits } from '@rookery/protocol';
import { readBounded } from './body.ts';
import { failureOfStatus, failureOfTransport } from './classify.ts';
import { ProviderError } from './error.ts';
import { defaultContextWindow } from './model-defaults.ts';
import { defaultTimeouts, type ProviderOptions } from './policy.ts';
import { endpointSecrets, endpointUrl, requestHeaders } from './request.ts';
import { openResponse } from './transport.ts';
import type { DiscoveredModel, ProviderEndpoint } from './types.ts';

const errorBodyBytes = 64 * 1024;

/** Asks a provider once for its models (GET /models); at most 1,000 come back. Throws ProviderError (PROVIDER_FAILED). */
export async function discoverModels(
  endpoint: ProviderEndpoint & { signal?: AbortSignal },
  options: Pick<ProviderOptions, 'timeouts'> = {},
): Promise<DiscoveredModel[]> {
  const { connectMs, headersMs } = { ...defaultTimeouts, ...options.timeouts };
  try {
    const response = await openResponse({
      url: endpointUrl(endpoint.baseUrl, '/models'),
      method: 'GET',
      headers: requestHeaders(endpoint, 'application/json'),
      connectMs,
      headersMs,
      ...(endpoint.signal ? { signal: endpoint.signal } : {}),
    });
    const ok = response.status <= 299;
    const { text, complete } = await readBounded(response, ok ? limits.discoveryBytes : errorBodyBytes, headersMs);
    if (!ok) throw failureOfStatus(response.status, response.headers, text, endpointSecrets(endpoint), Date.now());
    if (!complete) throw new ProviderError({ category: 'protocol', retryable: false, reason: 'body_too_large' });
    return readModels(text);
  } catch (error) {
    throw failureOfTransport(error);
  }
}

/** The models of a /models body; rows that are no models are left out. Throws ProviderError (protocol). */
export function readModels(text: string): DiscoveredModel[] {
  const models = new Map<string, DiscoveredModel>();
  for (const row of readRows(text)) {
    const model = readModel(row);
    if (model && !models.has(model.id)) models.set(model.id, model);
    if (models.size >= limits.discoveredModels) break;
  }
  return [...models.values()];
}

function readRows(text: string): unknown[] {
  const refuse = (): ProviderError =>
    new ProviderError({ category: 'protocol', retryable: false, reason: 'malformed_models' });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse();
  }
  const rows = Array.isArray(json)
    ? json
    : typeof json === 'object' && json !== null && 'data' in json
      ? json.data
      : null;
  if (!Array.isArray(rows)) throw refuse();
  return rows;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= limits.modelIdChars &&
  /\S/.test(value) &&
  !/[\p{C}\p{Zl}\p{Zp}]/u.test(value);

function readModel(row: unknown): DiscoveredModel | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const fields = row as Record<string, unknown>;
  if (!isName(fields.id)) return undefined;
  const name = [fields.display_name, fields.name].find(isName) ?? fields.id;
  // The names that OpenRouter, vLLM and Groq give to the window.
  const windows = [fields.context_length, fields.max_model_len, fields.context_window];
  const window = windows.find((value) => Number.isSafeInteger(value) && Number(value) > 0);
  return { id: fields.id, displayName: name, contextWindow: Number(window ?? defaultContextWindow(fields.id)) };
}
