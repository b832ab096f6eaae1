import { conversationProjection } from '@rookery/kernel';
import { openReadModel } from '@rookery/read-model';

/** A process that keeps a read model until it is killed; prints what it is handed, and its states beside it. Its one argument is JSON. */
const { dir, workerEntry, connection } = JSON.parse(process.argv[2] ?? '{}');
await openReadModel({
  dir,
  workerEntry,
  connection,
  projection: conversationProjection,
  onApplied: ({ commits, appliedSeq }) => {
    for (const { streamSeq } of commits) console.log(`commit ${streamSeq}`);
    console.log(`applied ${appliedSeq}`);
  },
  onState: ({ state }) => console.error(state),
});
