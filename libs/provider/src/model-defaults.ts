import { limits } from '@rookery/protocol';

const windows: ReadonlyMap<string, number> = new Map([
  ['deepseek-v4-flash', 1_000_000],
  ['deepseek-v4-pro', 1_000_000],
  ['deepseek-v4-flash-vision-exp', 1_000_000],
]);

/** Tokens of a model's context window where nobody said otherwise. */
export function defaultContextWindow(modelId: string): number {
  return windows.get(modelId) ?? limits.contextWindowDefault;
}
