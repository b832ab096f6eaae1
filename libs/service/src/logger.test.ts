import { Writable } from 'node:stream';
import { AppError, type ErrorCode, errorTable } from '@rookery/protocol';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createLogger, logError } from './logger.ts';

/** What one error leaves in the log. */
function logged(error: AppError): Record<string, unknown> {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  logError(pino({ level: 'trace' }, sink), 'it failed', error);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

describe('the log', () => {
  it('is at info, or where ROOKERY_LOG says', () => {
    expect(createLogger('agent', 'i', {}).level).toBe('info');
    expect(createLogger('agent', 'i', { ROOKERY_LOG: '' }).level).toBe('info');
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) {
      expect(createLogger('agent', 'i', { ROOKERY_LOG: level }).level).toBe(level);
    }
  });

  it('names its service and instance', () => {
    expect(createLogger('agent', 'host-0-boot', {}).bindings()).toEqual({ service: 'agent', instance: 'host-0-boot' });
  });

  it('refuses a level that is none', () => {
    expect(() => createLogger('agent', 'i', { ROOKERY_LOG: 'loud' })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });
});

describe('an error in the log', () => {
  const levels = { debug: 20, info: 30, warn: 40, error: 50 };

  it.each<[ErrorCode]>([['JOURNAL_CONFLICT'], ['THREAD_NOT_FOUND'], ['SERVICE_UNAVAILABLE'], ['INTERNAL']])(
    '%s has its level, code and details',
    (code) => {
      const line = logged(new AppError(code, { details: { seq: 7 } }));
      expect(line).toMatchObject({ level: levels[errorTable[code].log], code, details: { seq: 7 }, msg: 'it failed' });
    },
  );

  it('says of its cause the kind and at most 500 characters', () => {
    const line = logged(new AppError('SERVICE_UNAVAILABLE', { cause: new TypeError('x'.repeat(600)) }));
    expect(line.cause).toBe(`TypeError: ${'x'.repeat(500)}`);
    expect(line).not.toHaveProperty('stack');
  });

  it('has a stack only where it is a defect', () => {
    expect(logged(new AppError('INTERNAL', { cause: new Error('x') })).stack).toContain('logger.test.ts');
  });

  it('leaves out a cause that is no error: it may be anything', () => {
    const line = logged(new AppError('INTERNAL', { cause: { apiKey: 'a secret' } }));
    expect(JSON.stringify(line)).not.toContain('a secret');
  });
});
