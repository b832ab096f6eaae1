import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type FrameSink, SendQueue } from './send-queue.ts';

/** A socket that takes nothing until it is told to. */
class Sink implements FrameSink {
  sent: string[] = [];
  #written: { size: number; done: () => void }[] = [];

  get bufferedAmount(): number {
    return this.#written.reduce((sum, { size }) => sum + size, 0);
  }

  send(frame: string | Buffer, written: () => void): void {
    this.sent.push(String(frame));
    this.#written.push({ size: frame.length, done: written });
  }

  take(count = 1): void {
    for (const { done } of this.#written.splice(0, count)) done();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function queueOn(sink: Sink, options: Partial<{ capacity: number; capacityBytes: number }> = {}) {
  const tooSlow: string[] = [];
  const queue = new SendQueue(sink, {
    capacity: 3,
    capacityBytes: 1000,
    highWaterBytes: 10,
    sendTimeoutMs: 5000,
    onTooSlow: (why) => tooSlow.push(why),
    ...options,
  });
  return { queue, tooSlow };
}

it('keeps order, and lets no more into the socket than it should hold', () => {
  const sink = new Sink();
  const { queue } = queueOn(sink);
  for (const frame of ['12345678', '9012', 'a', 'b']) queue.push(frame);
  expect(sink.sent).toEqual(['12345678', '9012']);
  expect(queue.depth).toBe(2);
  sink.take(2);
  expect(sink.sent).toEqual(['12345678', '9012', 'a', 'b']);
});

it('ends a client whose queue is full, in frames or in bytes, once', () => {
  const sink = new Sink();
  const { queue, tooSlow } = queueOn(sink);
  for (let n = 0; n < 20; n += 1) queue.push('0123456789');
  expect(tooSlow).toEqual(['queue']);
  expect(queue.depth).toBe(0);
  const bytes = queueOn(new Sink(), { capacity: 100, capacityBytes: 25 });
  for (let n = 0; n < 20; n += 1) bytes.queue.push('0123456789');
  expect(bytes.tooSlow).toEqual(['queue']);
});

it('ends a client that takes nothing for so long, but not one that takes a frame now and then', () => {
  const sink = new Sink();
  const { queue, tooSlow } = queueOn(sink);
  queue.push('1');
  queue.push('2');
  vi.advanceTimersByTime(4000);
  sink.take();
  vi.advanceTimersByTime(4000);
  expect(tooSlow).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(tooSlow).toEqual(['timeout']);
});

it('has no time running while nothing is in the socket, and tells when a frame was taken', () => {
  const sink = new Sink();
  const { queue, tooSlow } = queueOn(sink);
  const written = vi.fn();
  queue.push('1', written);
  expect(written).not.toHaveBeenCalled();
  sink.take();
  expect(written).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(60_000);
  expect(tooSlow).toEqual([]);
  queue.push('2');
  queue.end();
  vi.advanceTimersByTime(60_000);
  expect(tooSlow).toEqual([]);
});
