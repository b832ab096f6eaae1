import type { Item, Submission } from '@rookery/protocol';
import { writeItem } from './item-row.ts';
import { submitted } from './run-events.ts';
import { type Handler, owned } from './scope.ts';

export const started: Handler<'item.started'> = ({ item }, scope) => [writeItem(item, scope)];

export const delta: Handler<'item.delta'> = ({ delta: text }, scope, { seq, itemId }) => {
  if (itemId === undefined) throw new TypeError('a delta names its item');
  return [
    { table: 'stream_chunks', op: 'insert', key: { item_id: itemId, ordinal: seq }, set: owned(scope, { text }) },
  ];
};

const isSubmission = (payload: Submission | { item: Item }): payload is Submission => 'runConfig' in payload;

export const completed: Handler<'item.completed'> = (payload, scope) => {
  if (isSubmission(payload)) return submitted(payload, scope);
  const { item } = payload;
  const writes = [writeItem(item, scope)];
  if (item.role === 'assistant' && item.kind === 'message') {
    writes.push({ table: 'stream_chunks', op: 'delete', key: { item_id: item.id } });
  }
  // A steer that a model call has seen is no longer pending; one that this commit leaves over stays.
  if (item.data.steer === true && !scope.left.has(item.id)) {
    writes.push({ table: 'pending_steers', op: 'delete', key: { item_id: item.id } });
  }
  return writes;
};
