import { AppError } from '@rookery/protocol';
import type { ReadModelState } from '@rookery/read-model';
import { type Logger, logError } from './logger.ts';

/**
 * `onState` of a service's read model: logs what it says, and ends the process by an unexpected error where applying has
 * failed for a reason that a new start may not meet. A journal that is another one (`regressed`) or too new (`too-old`)
 * would be the same after it: then the service goes on, answers reads, and refuses the rest.
 */
export function onReadModelState(log: Logger, name: string): (state: ReadModelState) => void {
  return (state) => {
    if (!('error' in state)) return log.debug({ readModel: name, ...state }, 'read model');
    logError(log, `the read model ${name} is ${state.state}`, state.error);
    if (state.state !== 'failed') return;
    const { code, details } = state.error;
    setImmediate(() => {
      throw new AppError('INTERNAL', { cause: state.error, details: { readModel: name, code, ...details } });
    });
  };
}
