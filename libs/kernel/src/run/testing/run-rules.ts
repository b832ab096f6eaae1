import { checkEvent, type Item } from '@rookery/protocol';
import type { Draft } from '../../draft.ts';
import { MAX_DELTA_CHARS } from '../loop.ts';

/** What must hold of all events of a run, whatever happened: every breach as a sentence. */
export function breaches(events: readonly Draft[]): string[] {
  const found: string[] = [];
  const must = (holds: boolean, rule: string) => {
    if (!holds) found.push(rule);
  };
  const known = new Map<string, number>();
  const active = new Map<string, Item>();
  let streamed: { id: string; text: string } | null = null;
  let ordinal = 1;
  let stepOrdinal = 0;
  let modelOpen = false;
  let claimed = 0;
  let settled = 0;
  const begin = (item: Item) => {
    must(!known.has(item.id), `${item.id} begins twice`);
    must(item.ordinal === ordinal + 1, `${item.id} has ordinal ${item.ordinal} after ${ordinal}`);
    ordinal = item.ordinal;
    known.set(item.id, item.ordinal);
  };
  for (const event of events) {
    const check = checkEvent(JSON.parse(JSON.stringify(event)));
    must(check.ok, check.ok ? '' : check.issue);
    must(settled === 0, `${event.type} follows run.settled`);
    switch (event.type) {
      case 'run.claimed':
        claimed += 1;
        break;
      case 'run.state_changed':
        must(claimed === 1 && event.payload.status === 'running', 'a run is running once it is claimed');
        break;
      case 'item.started':
      case 'run.steered': {
        const { item } = event.payload;
        must(event.itemId === item.id, 'itemId is the id of the item');
        must(event.type === 'run.steered' || item.content === '', `${item.id} starts empty`);
        begin(item);
        active.set(item.id, item);
        if (event.type === 'run.steered' || item.kind !== 'message') break;
        must(streamed === null, 'one message is streamed at a time');
        streamed = { id: item.id, text: '' };
        break;
      }
      case 'item.delta':
        must(event.payload.delta.length <= MAX_DELTA_CHARS, 'a delta is short enough to stay in the journal');
        must(streamed !== null && streamed.id === event.itemId, 'a delta belongs to the message that is streamed');
        if (streamed !== null) streamed.text += event.payload.delta;
        break;
      case 'item.completed': {
        const { item } = event.payload;
        must(event.itemId === item.id, 'itemId is the id of the item');
        must(['completed', 'failed', 'cancelled'].includes(item.status), `${item.id} completes with a terminal status`);
        if (item.kind === 'tool_result') begin(item);
        else must(active.get(item.id)?.ordinal === item.ordinal, `${item.id} was started, once, and is completed once`);
        active.delete(item.id);
        if (streamed?.id !== item.id) break;
        must(item.content === streamed.text, `${item.id} is the sum of its deltas`);
        streamed = null;
        break;
      }
      case 'model.input_prepared':
        must(!modelOpen, 'one model call is open at a time');
        must(event.payload.stepOrdinal === stepOrdinal + 1, 'model calls are counted');
        must(active.size === 0, 'a model is not asked while an item is open');
        must((event.payload.contextRevision !== null) === (stepOrdinal === 0), 'a revision is told once');
        stepOrdinal = event.payload.stepOrdinal;
        modelOpen = true;
        break;
      case 'model.response_finished':
        must(modelOpen && event.payload.stepOrdinal === stepOrdinal, 'an answer ends the call that is open');
        must((event.payload.outcome === 'completed') === (event.payload.reasonCode === null), 'a failure has a reason');
        modelOpen = false;
        break;
      case 'run.settled':
        must(active.size === 0, `${[...active.keys()]} is open when the run is settled`);
        must(!modelOpen, 'a model call is open when the run is settled');
        must(
          (event.payload.status === 'completed') === (event.payload.reasonCode === undefined),
          'an end has a reason',
        );
        settled += 1;
        break;
      case 'run.steers_left':
        for (const { itemId } of event.payload.steers) must(known.has(itemId), `${itemId} was steered`);
        break;
      default:
        must(false, `${event.type} is no event of a run`);
    }
  }
  must(claimed <= 1, 'a run is claimed once');
  must(settled === 1, `run.settled is there ${settled} times`);
  return found;
}

/** Items as the read model has them: the newest state of each, by ordinal. */
export function itemsOf(events: readonly Draft[]): Item[] {
  const items = new Map<string, Item>();
  for (const event of events) {
    const shown = event.type === 'item.started' || event.type === 'item.completed' || event.type === 'run.steered';
    if (shown) items.set(event.payload.item.id, event.payload.item);
  }
  return [...items.values()].sort((a, b) => a.ordinal - b.ordinal);
}
