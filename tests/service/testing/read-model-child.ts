import { conversationProjection, memoryProjection } from '@rookery/kernel';
import { openReadModel } from '@rookery/read-model';

/** A process that keeps a read model until it is killed; prints what it is handed, and its states beside it. Its one argument is JSON. */
const { dir, workerEntry, connection, stream } = JSON.parse(process.argv[2] ?? '{}');
await openReadModel({
  dir,
  workerEntry,
  connection,
  stream,
  projection: stream === 'MEMORY' ? memoryProjection : conversationProjection,
  onApplied: ({ commits, appliedSeq }) => {
    for (const { streamSeq } of commits) console.log(`commit ${streamSeq}`);
    console.log(`applied ${appliedSeq}`);
  },
  onState: ({ state }) => console.error(state),
});
