import { expect, it } from 'vitest';
import { readProviders } from './import-yaml.ts';

const text = `
version: 2
other: kept for later
providers:
  deepseek:
    type: openai_compatible
    preset: deepseek
    base_url: https://api.deepseek.com/v1
    api_key: sk-1
    models:
      deepseek-chat: { display_name: Chat, enabled: true, supports_tools: true, context_window: 65536 }
  local:
    display_name: Local
    base_url: http://127.0.0.1:11434/v1/
    headers: { X-Team: a }
    models:
      qwen: { display_name: Qwen, enabled: false, context_window: 32768, reasoning_efforts: [low], reasoning_effort: low }
`;

it('reads the providers of a config.yaml', () => {
  expect(readProviders(text)).toEqual([
    {
      params: {
        kind: 'deepseek',
        apiKey: 'sk-1',
        models: [{ id: 'deepseek-chat', displayName: 'Chat', contextWindow: 65536, supportsTools: true }],
      },
      disabledModels: [],
    },
    {
      params: {
        kind: 'custom',
        providerId: 'local',
        displayName: 'Local',
        baseUrl: 'http://127.0.0.1:11434/v1',
        headers: { 'X-Team': 'a' },
        models: [
          {
            id: 'qwen',
            displayName: 'Qwen',
            contextWindow: 32768,
            supportsTools: true,
            reasoningEfforts: ['low'],
            reasoningEffort: 'low',
          },
        ],
      },
      disabledModels: ['qwen'],
    },
  ]);
  expect(readProviders('')).toEqual([]);
  expect(readProviders('version: 2')).toEqual([]);
});

it.each([
  'providers: [1]',
  'providers: { a: 1 }',
  'providers: { local: { base_url: "http://x.test", models: {} } }',
  'providers: { local: { models: { m: { display_name: M, context_window: 1 } } } }',
  'providers: { deepseek: { models: { m: { display_name: M, context_window: 1 } } } }',
  'providers: { A B: { base_url: "http://x.test", models: { m: { display_name: M, context_window: 1 } } } }',
  'a: 1\na: 2',
  '{',
])('refuses %s without repeating it', (broken) => {
  expect(() => readProviders(broken)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
});
