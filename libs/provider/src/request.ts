import { ProviderError } from './error.ts';
import type { ProviderEndpoint, ProviderRequest } from './types.ts';

/** The JSON of a streaming request. No max_tokens: an answer is never cut by us. */
export function requestBody(request: ProviderRequest, includeUsage: boolean): string {
  return JSON.stringify({
    model: request.model,
    messages: request.messages,
    stream: true,
    ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
    ...(request.tools && request.tools.length > 0 ? { tools: request.tools } : {}),
    ...(request.reasoningEffort ? { reasoning_effort: request.reasoningEffort } : {}),
  });
}

/** Headers of a request to a provider; what we must set ourselves wins over the user's own. */
export function requestHeaders(endpoint: ProviderEndpoint, accept: string): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'rookery' };
  for (const [name, value] of Object.entries(endpoint.headers ?? {})) headers[name.toLowerCase()] = value;
  if (endpoint.apiKey) headers.authorization = `Bearer ${endpoint.apiKey}`;
  // Compression would hold deltas back.
  return { ...headers, accept, 'accept-encoding': 'identity' };
}

/** The address of a path below the base URL; throws ProviderError (invalid_request) for a base URL we may not use. */
export function endpointUrl(baseUrl: string, path: string): URL {
  const refuse = (): ProviderError =>
    new ProviderError({ category: 'invalid_request', retryable: false, reason: 'base_url' });
  let url: URL;
  try {
    url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  } catch {
    throw refuse();
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse();
  if (url.username !== '' || url.password !== '') throw refuse();
  return url;
}

/** The values of an endpoint that may never be shown. */
export function endpointSecrets(endpoint: ProviderEndpoint): string[] {
  return [endpoint.apiKey ?? '', ...Object.values(endpoint.headers ?? {})].filter((value) => value !== '');
}
