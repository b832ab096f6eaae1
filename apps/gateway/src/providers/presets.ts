import { DEMO_PROVIDER } from '@rookery/protocol';

/** Providers whose address is known: the person gives only a key. */
export const DEEPSEEK = { id: 'deepseek', displayName: 'DeepSeek', baseUrl: 'https://api.deepseek.com/v1' } as const;

/** The scripted provider that the supervisor runs, so that a fresh home can be tried without any key. */
export const DEMO = { id: DEMO_PROVIDER, displayName: 'Demo (scripted)', modelId: 'demo-1' } as const;
