export { discoverModels } from './discover.ts';
export { ProviderError, type ProviderFailure } from './error.ts';
export { defaultContextWindow } from './model-defaults.ts';
export type { ProviderOptions, ProviderTimeouts, RetryPolicy } from './policy.ts';
export { streamChat } from './stream-chat.ts';
export { closeConnections } from './transport.ts';
export type {
  ContentPart,
  DiscoveredModel,
  FailureCategory,
  ProviderEndpoint,
  ProviderEvent,
  ProviderRequest,
  Usage,
  WireMessage,
  WireTool,
  WireToolCall,
} from './types.ts';
