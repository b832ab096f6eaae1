/** What the form of a provider holds about its endpoint. */
interface EndpointFields {
  baseUrl: string;
  key: string;
  headers: Record<string, string>;
  /** What is saved and shall go. */
  forget: { key: boolean; headers: boolean };
}

interface Endpoint {
  baseUrl: string;
  apiKey?: string;
  headers?: Record<string, string>;
}

/** An endpoint as the server takes it: what is absent stays as saved, and what is empty is removed. */
export function endpointOf({ baseUrl, key, headers, forget }: EndpointFields): Endpoint {
  const apiKey = forget.key ? '' : key.trim() || undefined;
  const named = forget.headers ? {} : Object.keys(headers).length > 0 ? headers : undefined;
  return {
    baseUrl: baseUrl.trim(),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(named === undefined ? {} : { headers: named }),
  };
}
