import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AckHold } from './ack-hold.ts';

interface Event {
  n: number;
  cause: string;
}
type Step = { do: 'begin' | 'end' | 'push'; cause: string };

const step = fc.record<Step>({ do: fc.constantFrom('begin', 'end', 'push'), cause: fc.constantFrom('a', 'b', 'c') });

it('never changes the order, never lets an event pass an unanswered command of its cause, and keeps nothing in the end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const waiting = new Map<string, number>();
      const out: Event[] = [];
      let pushed = 0;
      const hold = new AckHold<Event>((event) => {
        expect(waiting.get(event.cause) ?? 0).toBe(0);
        out.push(event);
      }, 1000);
      for (const { do: what, cause } of steps) {
        const count = waiting.get(cause) ?? 0;
        if (what === 'begin') {
          waiting.set(cause, count + 1);
          hold.begin(cause);
        } else if (what === 'end' && count > 0) {
          waiting.set(cause, count - 1);
          hold.end(cause);
        } else if (what === 'push') {
          pushed += 1;
          hold.push({ n: pushed, cause });
        }
        expect(out.length + hold.size).toBe(pushed);
      }
      for (const [cause, count] of waiting) {
        for (let left = count; left > 0; left -= 1) {
          waiting.set(cause, left - 1);
          hold.end(cause);
        }
      }
      expect(out.map((event) => event.n)).toEqual(Array.from({ length: pushed }, (_, index) => index + 1));
    }),
  );
});

it('holds everything behind the first held event, and lets events before it pass', () => {
  const out: number[] = [];
  const hold = new AckHold<Event>((event) => out.push(event.n), 10);
  hold.begin('mine');
  hold.push({ n: 1, cause: 'other' });
  hold.push({ n: 2, cause: 'mine' });
  hold.push({ n: 3, cause: 'other' });
  expect(out).toEqual([1]);
  hold.end('mine');
  expect(out).toEqual([1, 2, 3]);
});

it('gives the order of the answer up before it keeps too much', () => {
  const out: number[] = [];
  const hold = new AckHold<Event>((event) => out.push(event.n), 2);
  hold.begin('mine');
  for (const n of [1, 2, 3]) hold.push({ n, cause: 'mine' });
  expect(out).toEqual([1, 2, 3]);
});
