import { AppError } from '@rookery/protocol';

interface Waiter {
  streamSeq: number;
  resolve(): void;
  reject(error: AppError): void;
}

/** Callers that wait until a stream sequence has been applied. */
export class Waiters {
  readonly #waiting = new Set<Waiter>();
  #failure: AppError | null = null;
  #reached = 0;

  /** Resolves once `reach` has passed the sequence; SERVICE_UNAVAILABLE after `timeoutMs`, or the error of `fail`. */
  wait(streamSeq: number, timeoutMs: number | null): Promise<void> {
    if (this.#reached >= streamSeq) return Promise.resolve();
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | null = null;
      const done = () => {
        if (timer !== null) clearTimeout(timer);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        streamSeq,
        resolve: () => {
          done();
          resolve();
        },
        reject: (error) => {
          done();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
      if (timeoutMs === null) return;
      timer = setTimeout(() => {
        const details = { streamSeq, appliedSeq: this.#reached };
        const message = 'The read model is behind the journal; try again.';
        waiter.reject(new AppError('SERVICE_UNAVAILABLE', { message, details }));
      }, timeoutMs);
    });
  }

  reach(streamSeq: number): void {
    this.#reached = streamSeq;
    for (const waiter of this.#waiting) if (waiter.streamSeq <= streamSeq) waiter.resolve();
  }

  /** Everyone who waits, and who will, gets the error. */
  fail(error: AppError): void {
    this.#failure = error;
    for (const waiter of this.#waiting) waiter.reject(error);
  }
}
