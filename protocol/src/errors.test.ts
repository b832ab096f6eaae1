import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, type ErrorRow, errorTable } from './error-table.ts';
import { AppError, errorFromBody, isErrorCode, toAppError } from './errors.ts';

const rows = Object.entries(errorTable) as [ErrorCode, ErrorRow][];
const codes = rows.map(([code]) => code);
const source = readFileSync(new URL('./error-table.ts', import.meta.url), 'utf8');

describe('the table of errors', () => {
  it.each(rows)('%s says what to do in both languages', (_code, row) => {
    expect(row.en).toMatch(/^[A-Za-z].+\.$/);
    expect(row.en).not.toMatch(/\p{Script=Han}/u);
    expect(row.zh).toMatch(/\p{Script=Han}.*。$/u);
  });

  it.each(rows)('%s has a code on each wire, a level and a word on repeating', (code, row) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(row.rpc).toBeGreaterThanOrEqual(-32_768);
    expect(row.rpc).toBeLessThanOrEqual(-32_000);
    expect(row.http).toBeGreaterThanOrEqual(400);
    expect(row.http).toBeLessThan(600);
    expect(['debug', 'info', 'warn', 'error']).toContain(row.log);
    expect(['never', 'safe', 'after-check']).toContain(row.retry);
    if (row.reason !== undefined) expect(row.reason).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  it('has each code and each reason once', () => {
    const written = [...source.matchAll(/^ {2}([A-Z_]+): row\(/gm)].map(([, code]) => code);
    expect(written).toEqual(codes);
    expect(new Set(written).size).toBe(written.length);
    const reasons = rows.flatMap(([, row]) => row.reason ?? []);
    expect(new Set(reasons).size).toBe(reasons.length);
  });

  it.each<[ErrorCode, number]>([
    ['PARSE_ERROR', -32_700],
    ['INVALID_REQUEST', -32_600],
    ['SECRET_REFUSED', -32_600],
    ['METHOD_NOT_FOUND', -32_601],
    ['INVALID_PARAMS', -32_602],
    ['INTERNAL', -32_603],
    ['NOT_INITIALIZED', -32_000],
    ['PROTOCOL_UNSUPPORTED', -32_001],
    ['ALREADY_INITIALIZED', -32_002],
    ['PROVIDER_FAILED', -32_010],
  ])("%s is the document's %i", (code, rpc) => {
    expect(errorTable[code].rpc).toBe(rpc);
  });

  it('has the five reasons of a memory operation that failed', () => {
    const memory = rows.filter(([, row]) => row.rpc === -32_020);
    expect(memory.map(([, row]) => row.reason)).toEqual([
      'memory_not_found',
      'memory_revision_conflict',
      'memory_forgotten',
      'memory_idempotency_conflict',
      'memory_source_unavailable',
    ]);
  });
});

describe('an error', () => {
  it('travels as code, sentence, advice and details, and comes back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...codes),
        fc.string(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (code, message, details) => {
          const wire: unknown = JSON.parse(JSON.stringify(new AppError(code, { message, details }).toBody()));
          const back = errorFromBody(wire);
          expect(back).toMatchObject({ code, message, retry: errorTable[code].retry });
          expect(JSON.stringify(back.details)).toBe(JSON.stringify(details));
        },
      ),
    );
  });

  it('says its own sentence, and nothing of details where there are none', () => {
    expect(new AppError('THREAD_BUSY').toBody()).toEqual({
      code: 'THREAD_BUSY',
      message: errorTable.THREAD_BUSY.en,
      retry: 'safe',
    });
  });

  it('keeps its cause to itself', () => {
    const error = new AppError('INTERNAL', { cause: new Error('secret') });
    expect(error.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(error.toBody())).not.toContain('secret');
  });

  it.each([undefined, null, 'text', 1, [], { code: 'NO_SUCH_CODE' }, { code: 'toString' }, { code: 7, details: 'x' }])(
    'that comes as %j is INTERNAL',
    (body) => {
      expect(errorFromBody(body)).toMatchObject({ code: 'INTERNAL', details: {} });
    },
  );

  it('of ours stays itself, any other becomes INTERNAL without its text', () => {
    const own = new AppError('THREAD_NOT_FOUND');
    expect(toAppError(own)).toBe(own);
    const other = toAppError(new Error('/home/me/secret'));
    expect(other.code).toBe('INTERNAL');
    expect(JSON.stringify(other.toBody())).not.toContain('secret');
    expect(toAppError('thrown text').code).toBe('INTERNAL');
  });

  it('code is told from any other text', () => {
    expect(codes.every(isErrorCode)).toBe(true);
    for (const other of ['toString', '__proto__', '', 'thread_busy', 1, null]) expect(isErrorCode(other)).toBe(false);
  });
});
