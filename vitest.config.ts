import { defineConfig } from 'vitest/config';

// How long something is waited for says nothing about it: a busy machine is slow.
const poll = { timeout: 15_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{protocol,libs,apps,infra}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          testTimeout: 20_000,
          expect: { poll },
          // One module graph a worker: loading it for each file would take most of the time.
          isolate: false,
        },
      },
      {
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll },
          pool: 'forks',
          maxWorkers: 2,
        },
      },
    ],
  },
});
