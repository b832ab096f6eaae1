import { conversationProjection, memoryProjection, type Projection, type Write } from '@rookery/kernel';
import { runProjector } from '@rookery/read-model';

/**
 * A projector's thread whose process is killed inside a transaction: when write number KILL_AT_WRITE (or the first after it
 * that has columns to set) is performed, behind those that were before it.
 */
const killAt = Number(process.env.KILL_AT_WRITE);
let writes = 0;
let found = false;

function deadly(write: Write): Write {
  const { set, ...rest } = write;
  return {
    ...rest,
    get set() {
      process.kill(process.pid, 'SIGKILL');
      return set ?? {};
    },
  };
}

const dying = (projection: Projection): Projection => ({
  ...projection,
  project: (stored) =>
    projection.project(stored).map((write) => {
      writes += 1;
      if (found || writes < killAt || write.set === undefined || projection.transient.includes(write.table))
        return write;
      found = true;
      return deadly(write);
    }),
});

runProjector([conversationProjection, memoryProjection].map(dying));
