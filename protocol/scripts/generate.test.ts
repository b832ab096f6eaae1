import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conversationEventTypes, type ErrorRow, errorTable, limits, permissions, rpcMethods } from '../src/index.ts';
import { differingFiles, generatedFiles, writeFiles } from './generate.ts';

const files = generatedFiles();
const text = (path: string): string => files.get(path) ?? '';

describe('generated files', () => {
  it.each([...files.keys()])('%s names its script in its first line', (path) => {
    expect(text(path).split('\n')[0]).toContain('protocol/scripts/generate.ts');
    expect(text(path)).toMatch(/[^\n]\n$/);
  });

  it('tell clients in any language the names and versions', () => {
    expect(JSON.parse(text('protocol/generated/runtime-protocol.json'))).toMatchObject({
      protocolVersion: 13,
      jsonrpcVersion: '2.0',
      serverName: 'rookery',
      initializeMethod: 'initialize',
      rpcMethods,
      notificationMethods: ['event'],
      journal: { schemaVersion: 11, eventTypes: conversationEventTypes },
      errors: {
        memoryOperation: {
          code: -32020,
          reasonCodes: [
            'memory_not_found',
            'memory_revision_conflict',
            'memory_forgotten',
            'memory_idempotency_conflict',
            'memory_source_unavailable',
          ],
        },
      },
      providerToolIds: [
        'read',
        'write',
        'edit',
        'glob',
        'grep',
        'list',
        'process_start',
        'process_read',
        'process_wait',
        'process_stop',
      ],
    });
  });

  it('hold every method, event, error, limit and user', () => {
    const page = text('docs/protocol.md');
    for (const method of rpcMethods) expect(page).toContain(`\n### ${method}\n`);
    for (const type of conversationEventTypes) expect(page).toContain(`| \`${type}\` |`);
    for (const row of Object.values(errorTable as Record<string, ErrorRow>)) {
      expect(page).toContain(row.en);
      expect(page).toContain(row.zh);
    }
    for (const name of Object.keys(limits)) expect(page).toContain(`| \`${name}\` |`);
    for (const { user } of permissions) expect(text('docs/permissions.md')).toContain(`\n## ${user}\n`);
  });

  it('describe parameters with their limits', () => {
    const page = text('docs/protocol.md');
    expect(page).toContain('| `title` | text of at most 200 characters or null |');
    expect(page).toContain('| `limit` | whole number, 1 to 1,000 | `500` |');
    expect(page).not.toContain('any value');
  });
});

describe('generating', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'rookery-generate-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('writes what differs and nothing more', () => {
    expect(differingFiles(root, files)).toEqual([...files.keys()]);
    expect(writeFiles(root, files)).toEqual([...files.keys()]);
    expect(writeFiles(root, files)).toEqual([]);
    writeFileSync(join(root, 'docs/protocol.md'), 'edited by hand');
    expect(differingFiles(root, files)).toEqual(['docs/protocol.md']);
    writeFiles(root, files);
    expect(readFileSync(join(root, 'docs/protocol.md'), 'utf8')).toBe(text('docs/protocol.md'));
  });
});
