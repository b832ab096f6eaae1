import type { EventPayload, EventType } from '@rookery/protocol';

/** An event that a decision wants in the journal. */
export type Draft = {
  [T in EventType]: { type: T; itemId?: string; payload: EventPayload<T> };
}[EventType];

/** Builds an event with its payload checked by its type. */
export function draft<T extends EventType>(type: T, payload: EventPayload<T>, itemId?: string): Draft {
  return (itemId === undefined ? { type, payload } : { type, itemId, payload }) as Draft;
}
