import { RpcError } from '../rpc-client.ts';

/** An event that must be in a stream once when the operation that asked for it was acknowledged. */
export interface Fact {
  stream: 'JOURNAL' | 'MEMORY';
  type: string;
  /** Dotted paths into the payload with the value that stands there. */
  where: Record<string, string>;
}

export interface Operation {
  name: string;
  fact: Fact;
  /** failed = refused for good and not stored; unknown = may be either. */
  outcome: 'ok' | 'failed' | 'unknown';
  error?: string;
}

/** Records what clients asked for and what they were told, in the manner of Jepsen. */
export class History {
  readonly operations: Operation[] = [];

  /** Runs one attempt; gives its result, or null where it was refused or lost. */
  async attempt<T>(name: string, fact: Fact, ask: () => Promise<T>): Promise<T | null> {
    // Recorded before it is sent: an attempt cut off by the end of a test is unknown.
    const operation: Operation = { name, fact, outcome: 'unknown' };
    this.operations.push(operation);
    try {
      const result = await ask();
      operation.outcome = 'ok';
      return result;
    } catch (error) {
      operation.outcome = error instanceof RpcError && error.data.retry === 'never' ? 'failed' : 'unknown';
      operation.error = error instanceof RpcError ? error.code : String(error);
      return null;
    }
  }
}
