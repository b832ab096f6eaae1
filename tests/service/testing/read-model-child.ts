import { conversationProjection } from '@rookery/kernel';
import { openReadModel } from '@rookery/read-model';

/** A process that keeps a read model until it is killed; prints each applied sequence. Its one argument is JSON. */
const { dir, workerEntry, connection } = JSON.parse(process.argv[2] ?? '{}');
await openReadModel({
  dir,
  workerEntry,
  connection,
  projection: conversationProjection,
  onApplied: ({ appliedSeq }) => console.log(appliedSeq),
});
