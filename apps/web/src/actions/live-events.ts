import { applyEvent } from '../state/apply-event.ts';
import { EventBatch } from '../state/event-batch.ts';
import { journal } from '../state/stores.ts';
import { announceSettled } from './announce.ts';

/** The page's one stream of events. */
export const liveEvents = new EventBatch((events) => {
  journal.set((state) => events.reduce(applyEvent, state));
  announceSettled(events);
});
