import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{protocol,libs,apps,infra}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          testTimeout: 20_000,
          // One module graph a worker: loading it for each file would take most of the time.
          isolate: false,
        },
      },
      {
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          // Real processes on a busy machine: a test that fails once is run once more, and is still to be explained.
          retry: 1,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 2,
        },
      },
    ],
  },
});
