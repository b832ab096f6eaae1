import type { RpcConnection } from './rpc-connection.ts';

const CLOSE_GOING_AWAY = 1001;
const CLOSE_POLICY = 1008;
const CLOSE_RESTART = 1012;
/** Time in which the answer that ended a credential still reaches its client. */
const REVOKED_AFTER_MS = 100;
const EXPIRY_LOOK_MS = 500;

/** All open connections of this gateway. */
export class ConnectionRegistry {
  readonly #open = new Set<RpcConnection>();
  readonly #isAlive: (connection: RpcConnection) => boolean;
  readonly #expiry: NodeJS.Timeout;
  #pending: NodeJS.Timeout | null = null;

  constructor(isAlive: (connection: RpcConnection) => boolean) {
    this.#isAlive = isAlive;
    this.#expiry = setInterval(() => this.#closeEnded(), EXPIRY_LOOK_MS);
    this.#expiry.unref();
  }

  add(connection: RpcConnection): void {
    this.#open.add(connection);
    connection.onEnd(() => this.#open.delete(connection));
  }

  get size(): number {
    return this.#open.size;
  }

  get queueDepth(): number {
    let depth = 0;
    for (const connection of this.#open) depth += connection.queueDepth;
    return depth;
  }

  /** Credentials ended: connections that used them are closed within a second. */
  revoked(): void {
    this.#pending ??= setTimeout(() => {
      this.#pending = null;
      this.#closeEnded();
    }, REVOKED_AFTER_MS);
  }

  /** The journal is another one or has ended here: clients must load everything anew. */
  journalChanged(): void {
    this.#closeAll(CLOSE_RESTART, 'journal changed');
  }

  stop(): void {
    clearInterval(this.#expiry);
    if (this.#pending) clearTimeout(this.#pending);
    this.#closeAll(CLOSE_GOING_AWAY, 'gateway stopping');
  }

  #closeEnded(): void {
    for (const connection of [...this.#open]) {
      if (!this.#isAlive(connection)) connection.close(CLOSE_POLICY, 'signed out');
    }
  }

  #closeAll(code: number, reason: string): void {
    for (const connection of [...this.#open]) connection.close(code, reason);
  }
}
