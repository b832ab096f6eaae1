import { parentPort } from 'node:worker_threads';
import type { Projection } from '@rookery/kernel';
import { AppError } from '@rookery/protocol';
import { faultOf } from './fault.ts';
import { Projector } from './projector.ts';
import type { FromWorker, ProjectorData, ToThread } from './worker-messages.ts';

/** Body of a projector thread: keeps the read models that the main thread asks for, out of those known here. */
export function runProjector(projections: readonly Projection[]): void {
  const port = parentPort;
  if (port === null) throw new TypeError('a projector runs in a worker thread');
  const projectors = new Map<number, Projector>();

  const open = (data: ProjectorData, post: (message: FromWorker, transfer?: ArrayBuffer[]) => void): Projector => {
    const { projection: name, version } = data;
    const projection = projections.find((each) => each.name === name && each.version === version);
    if (projection === undefined) {
      const message = `the projector does not know ${name} in this version; build it again`;
      throw new AppError('INTERNAL', { message });
    }
    return new Projector(data, projection, post);
  };

  port.on('message', ({ model, message }: ToThread) => {
    const post = (answer: FromWorker, transfer: ArrayBuffer[] = []) =>
      port.postMessage({ model, message: answer }, transfer);
    const end = (error: unknown) => post({ type: 'ended', error: faultOf(error).toBody() });
    const projector = projectors.get(model);
    switch (message.type) {
      case 'open':
        try {
          const opened = open(message.data, post);
          projectors.set(model, opened);
          opened.start().catch(end);
        } catch (error) {
          end(error);
        }
        return;
      case 'taken':
        projector?.taken(message.bytes);
        return;
      case 'moved':
        projector?.moved();
        return;
      case 'rebuild':
        projector
          ?.rebuild(message.path)
          .then((result) => post({ type: 'rebuilt', result }))
          .catch((error: unknown) => post({ type: 'not-rebuilt', error: faultOf(error).toBody() }));
        return;
      case 'last':
        projector?.lastSeq().then(
          (lastSeq) => post({ type: 'last', id: message.id, lastSeq }),
          (error: unknown) => post({ type: 'refused', id: message.id, error: faultOf(error).toBody() }),
        );
        return;
      case 'stop': {
        projectors.delete(model);
        const stopped = projector?.stop() ?? Promise.resolve();
        stopped.catch(end).finally(() => post({ type: 'stopped' }));
      }
    }
  });
}
