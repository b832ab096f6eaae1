import { parentPort, workerData } from 'node:worker_threads';
import type { Projection } from '@rookery/kernel';
import { AppError, toAppError } from '@rookery/protocol';
import { Projector } from './projector.ts';
import type { FromWorker, ProjectorData, ToWorker } from './worker-messages.ts';

/** Body of a projector's thread: keeps the read model that the main thread asks for, out of those known here. */
export function runProjector(projections: readonly Projection[]): void {
  const port = parentPort;
  if (port === null) throw new TypeError('a projector runs in a worker thread');
  const data = workerData as ProjectorData;
  const post = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  const end = (error: unknown) => post({ type: 'ended', error: toAppError(error).toBody() });

  const projection = projections.find(({ name, version }) => name === data.projection && version === data.version);
  if (projection === undefined) {
    const message = `the projector does not know ${data.projection} in this version; build it again`;
    end(new AppError('INTERNAL', { message }));
    return;
  }
  const projector = new Projector(data, projection, post);
  projector.start().catch(end);

  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'taken':
        projector.taken(message.bytes);
        return;
      case 'last':
        projector.lastSeq().then(
          (lastSeq) => post({ type: 'last', id: message.id, lastSeq }),
          (error: unknown) => post({ type: 'refused', id: message.id, error: toAppError(error).toBody() }),
        );
        return;
      case 'stop':
        // Ends the thread also while it still waits for a server.
        projector.stop().finally(() => process.exit(0));
    }
  });
}
