import { describe, expect, it } from 'vitest';
import { isBinaryName, isBinarySample } from './binary-files.ts';

describe('isBinaryName', () => {
  it('knows binary extensions whatever their case', () => {
    expect(isBinaryName('/a/b.ZIP')).toBe(true);
    expect(isBinaryName('photo.png')).toBe(true);
    expect(isBinaryName('notes.txt')).toBe(false);
    expect(isBinaryName('zip')).toBe(false);
  });
});

describe('isBinarySample', () => {
  it('takes text in any script for text', () => {
    expect(isBinarySample(Buffer.from('a\tb\r\nc\f'))).toBe(false);
    expect(isBinarySample(Buffer.from('纯文本，中文 🙂'))).toBe(false);
    expect(isBinarySample(new Uint8Array())).toBe(false);
  });

  it('takes one NUL for binary', () => {
    expect(isBinarySample(Buffer.from('text\0text'))).toBe(true);
  });

  it('allows 30 % control characters and no more', () => {
    expect(isBinarySample(Buffer.from(`${'\x01'.repeat(30)}${'a'.repeat(70)}`))).toBe(false);
    expect(isBinarySample(Buffer.from(`${'\x01'.repeat(31)}${'a'.repeat(69)}`))).toBe(true);
  });
});
