import type { Usage } from '../wire/types.ts';

const sum = (a: number | null, b: number | null): number | null =>
  a === null && b === null ? null : (a ?? 0) + (b ?? 0);

/** Token counts of one more model call; null where a provider reports none. */
export function addUsage(total: Usage | null, added: unknown): Usage | null {
  if (added === null || typeof added !== 'object') return total;
  const usage = added as Usage;
  if (!total) return usage;
  return {
    inputTokens: total.inputTokens + usage.inputTokens,
    cachedInputTokens: sum(total.cachedInputTokens, usage.cachedInputTokens),
    outputTokens: total.outputTokens + usage.outputTokens,
    reasoningOutputTokens: sum(total.reasoningOutputTokens, usage.reasoningOutputTokens),
    totalTokens: total.totalTokens + usage.totalTokens,
  };
}
