/** Part of a user message; an image is always a data: URL, nothing is ever fetched from a link. */
export type ContentPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

/** A tool call as it stands in an assistant message on the wire. */
export interface WireToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** One message in the shape of OpenAI Chat Completions. */
export type WireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ContentPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: WireToolCall[]; reasoning_content?: string }
  | { role: 'tool'; tool_call_id: string; content: string };

/** A tool that the model may call; `parameters` is a JSON schema. */
export interface WireTool {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** Where a provider is and how it is addressed. */
export interface ProviderEndpoint {
  /** http or https, for example `https://api.deepseek.com/v1`. */
  baseUrl: string;
  apiKey?: string;
  headers?: Record<string, string>;
}

/** One step's request to a model. */
export interface ProviderRequest extends ProviderEndpoint {
  model: string;
  messages: WireMessage[];
  tools?: WireTool[];
  /** Sent as reasoning_effort; absent means the provider's own default. */
  reasoningEffort?: string;
  signal?: AbortSignal;
}

/** Tokens as the provider counted them; null where it does not say. */
export interface Usage {
  inputTokens: number;
  cachedInputTokens: number | null;
  outputTokens: number;
  reasoningOutputTokens: number | null;
  totalTokens: number;
}

/** What a stream tells, in order. After a `retry` everything since the last `response.started` is void (never content). */
export type ProviderEvent =
  | { type: 'response.started'; requestId?: string; responseModelId?: string }
  | { type: 'text.delta'; text: string }
  | { type: 'reasoning.delta'; text: string }
  | { type: 'tool_call.arguments_delta'; index: number; id?: string; name?: string; delta: string }
  | { type: 'tool_call.completed'; index: number; id: string; name: string; arguments: string }
  | { type: 'usage.updated'; usage: Usage }
  | { type: 'retry'; attempt: number; category: FailureCategory; delayMs: number }
  | { type: 'response.completed'; finishReason: string; responseModelId: string | null; requestId: string | null };

/** Why a provider failed, in the words of the conversation protocol. */
export type FailureCategory =
  | 'authentication'
  | 'rate_limit'
  | 'context_overflow'
  | 'invalid_request'
  | 'timeout'
  | 'network'
  | 'server'
  | 'cancelled'
  | 'protocol'
  | 'unknown';

/** A model that a provider lists; `contextWindow` is in tokens. */
export interface DiscoveredModel {
  id: string;
  displayName: string;
  contextWindow: number;
}
