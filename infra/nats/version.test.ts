import { describe, expect, it } from 'vitest';
import { formatVersion, isSupported, parseVersion } from './version.ts';

describe('parseVersion', () => {
  it.each([
    ['nats-server: v2.15.1\n', '2.15.1'],
    ['nats-server: v2.10.27', '2.10.27'],
    ['2.15.1-1', '2.15.1'],
    ['nats-server: v2.16.0-RC.1', '2.16.0'],
  ])('reads %j', (text, expected) => {
    const version = parseVersion(text);
    expect(version && formatVersion(version)).toBe(expected);
  });

  it.each(['', 'usage: something', 'v2.15', 'listening on 10.0.0.1.2'])('finds none in %j', (text) => {
    expect(parseVersion(text)).toBeNull();
  });
});

it.each([
  ['2.14.9', false],
  ['2.15.0', true],
  ['2.9.20', false],
  ['3.0.0', true],
  ['1.99.0', false],
])('%s supported: %s', (text, expected) => {
  const version = parseVersion(text);
  expect(version && isSupported(version)).toBe(expected);
});
