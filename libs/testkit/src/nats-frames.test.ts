import { expect, it } from 'vitest';
import { NatsFrames } from './nats-frames.ts';

it('splits frames wherever the bytes are cut', () => {
  const text =
    'INFO {"x":1}\r\nMSG _INBOX_a.1 7 5\r\nhe\r\no\r\nHMSG s 1 reply.x 12 14\r\nNATS/1.0\r\n\r\nhi\r\nHPUB j.a _INBOX_a.2 12 13\r\nNATS/1.0\r\n\r\n!\r\nPUB x 0\r\n\r\nPING\r\n';
  for (let step = 1; step < text.length; step += 1) {
    const frames = new NatsFrames();
    const seen = [];
    for (let at = 0; at < text.length; at += step) seen.push(...frames.push(Buffer.from(text.slice(at, at + step))));
    expect(seen.map(({ verb, subject, reply }) => [verb, subject, reply])).toEqual([
      ['INFO', '', null],
      ['MSG', '_INBOX_a.1', null],
      ['HMSG', 's', 'reply.x'],
      ['HPUB', 'j.a', '_INBOX_a.2'],
      ['PUB', 'x', null],
      ['PING', '', null],
    ]);
    expect(seen[1]?.payload.toString()).toBe('he\r\no');
    expect(seen.map(({ raw }) => raw.toString()).join('')).toBe(text);
  }
});
