import { conversationProjection, memoryProjection } from '@rookery/kernel';
import { openReadModel } from '@rookery/read-model';

/**
 * A process that keeps a read model until it is killed; prints what it is handed, and its states beside it. Its one
 * argument is JSON; with `rebuild` it builds its file anew without end, and says how far it is.
 */
const { dir, workerEntry, connection, stream, rebuild = false } = JSON.parse(process.argv[2] ?? '{}');
const model = await openReadModel({
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
if (rebuild) {
  await model.level();
  for (;;) {
    console.log('rebuild');
    const { differences } = await model.rebuild(({ appliedSeq }) => console.log(`building ${appliedSeq}`));
    console.log(`rebuilt ${differences.join(',')}`);
  }
}
