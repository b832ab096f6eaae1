import {
  errors,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import { AppError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { busError, classifyFailure } from './failures.ts';

const permission = new PermissionViolationError('no', 'publish', 'journal.config');
const noResponders = new NoRespondersError('cmd.agent.any.turn.start');
const wrapped = (cause: Error): Error => new Error('outer', { cause: new Error('middle', { cause }) });

describe('what a failed request says of its effect', () => {
  it.each<[string, unknown, ReturnType<typeof classifyFailure>]>([
    ['a refused subject', permission, 'permission'],
    ['nobody listening', noResponders, 'no-responders'],
    ['nobody listening, as a request tells it', new RequestError('x', { cause: noResponders }), 'no-responders'],
    ['a closed connection', new errors.ClosedConnectionError(), 'not-sent'],
    ['a draining connection', new errors.DrainingConnectionError(), 'not-sent'],
    ['a time-out', new TimeoutError(), 'ambiguous'],
    ['an error that nobody knows', new Error('x'), 'ambiguous'],
    ['a lost connection', new errors.ConnectionError('x'), 'ambiguous'],
    ['no error at all', undefined, 'ambiguous'],
    ['a thrown text', 'x', 'ambiguous'],
  ])('%s', (_name, error, failure) => {
    expect(classifyFailure(error)).toBe(failure);
    if (error instanceof Error) expect(classifyFailure(wrapped(error))).toBe(failure);
  });

  it('ends with a chain of causes that does not', () => {
    const error: Error & { cause?: unknown } = new Error('x');
    error.cause = error;
    expect(classifyFailure(error)).toBe('ambiguous');
  });
});

describe('an error of the client as one of ours', () => {
  it('has a code, the effect in its details, and the cause', () => {
    expect(busError(permission)).toMatchObject({ code: 'PERMISSION_VIOLATION', cause: permission });
    expect(busError(noResponders)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { failure: 'no-responders' },
    });
    expect(busError(new TimeoutError())).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { failure: 'ambiguous' },
    });
  });

  it('is itself where it was one of ours', () => {
    const own = new AppError('CONFIG_CONFLICT');
    expect(busError(own)).toBe(own);
  });
});
