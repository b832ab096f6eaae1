import { AppError } from '@rookery/protocol';

/** The result of a promise, or SHUTTING_DOWN at once where the signal is aborted; what comes late goes to `onLate`. */
export function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal, onLate?: (result: T) => void): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AppError('SHUTTING_DOWN'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work
      .then((result) => {
        if (signal.aborted) onLate?.(result);
        resolve(result);
      }, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
