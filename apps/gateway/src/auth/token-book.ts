import type { Bucket } from '@rookery/bus';
import { hashOf, newCredential, sameHash } from './hashing.ts';
import { settleOwnerToken } from './owner-token.ts';
import type { Principal } from './principal.ts';
import {
  codeKey,
  codeRecord,
  endingRecord,
  OWNER_KEY,
  type OwnerRecord,
  ownerRecord,
  readRecord,
  SESSION_PREFIX,
  type SessionRecord,
  sessionKey,
  sessionRecord,
} from './records.ts';
import { writeTokenFile } from './token-file.ts';

export interface TokenBookOptions {
  tokens: Bucket;
  home: string;
  codeMs: number;
  now?: () => number;
}

const SESSION_MS = 30 * 24 * 60 * 60 * 1000;

/** Who may come in: the owner token, one-time codes, and the sessions of pages. All gateways share it by KV. */
export class TokenBook {
  /** True where this home's token file does not hold the token that is in force. */
  readonly fileIsStale: boolean;
  readonly #options: TokenBookOptions;
  readonly #now: () => number;
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #listeners = new Set<() => void>();
  #owner: OwnerRecord;
  #ownerRevision = 0;
  #watch: { stop(): void } | null = null;

  private constructor(options: TokenBookOptions, owner: OwnerRecord, fileIsStale: boolean) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#owner = owner;
    this.fileIsStale = fileIsStale;
  }

  /** Settles the owner token and follows every change that any gateway makes. */
  static async open(options: TokenBookOptions): Promise<TokenBook> {
    const { record, fileIsStale } = await settleOwnerToken(options.tokens, options.home, (options.now ?? Date.now)());
    const book = new TokenBook(options, record, fileIsStale);
    book.#watch = await options.tokens.watch((key, value, revision) => book.#accept(key, value, revision));
    return book;
  }

  stop(): void {
    this.#watch?.stop();
  }

  /** Called after credentials ended; ask `isAlive` which. */
  onRevoked(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  isAlive(principal: Principal): boolean {
    if (principal.ownerHash !== this.#owner.hash) return false;
    if (principal.expiresAt !== null && principal.expiresAt <= this.#now()) return false;
    return principal.kind === 'owner' || this.#sessions.has(principal.id);
  }

  verifyBearer(token: string): Principal | null {
    const hash = hashOf(token);
    if (!sameHash(hash, this.#owner.hash)) return null;
    return { kind: 'owner', id: hash, ownerHash: hash, expiresAt: null };
  }

  /** A page's session: one of the cookies sent (another port of this host may have set more) and the key of its origin. */
  verifySession(cookies: readonly string[], key: string | null): Principal | null {
    if (key === null) return null;
    const keyHash = hashOf(key);
    for (const cookie of cookies) {
      const id = hashOf(cookie);
      const session = this.#sessions.get(id);
      if (session === undefined || !sameHash(session.keyHash, keyHash)) continue;
      const principal: Principal = { kind: 'session', id, ownerHash: session.ownerHash, expiresAt: session.expiresAt };
      if (this.isAlive(principal)) return principal;
    }
    return null;
  }

  /** Makes a code that can be traded once for a session. */
  async createCode(): Promise<{ code: string; expiresAt: string }> {
    const code = newCredential();
    const expiresAt = this.#now() + this.#options.codeMs;
    const record = { ownerHash: this.#owner.hash, expiresAt, used: false };
    await this.#options.tokens.put(codeKey(hashOf(code)), JSON.stringify(record), 0);
    return { code, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** Trades a code for a session; null for a code that is unknown, used or too old. */
  async exchange(code: string): Promise<{ cookie: string; key: string; maxAgeSeconds: number } | null> {
    const { tokens } = this.#options;
    const name = codeKey(hashOf(code));
    const entry = await tokens.get(name);
    const record = readRecord(codeRecord, entry?.value ?? null);
    if (entry === null || record === null || record.used || record.ownerHash !== this.#owner.hash) return null;
    if (record.expiresAt <= this.#now()) {
      await tokens.delete(name);
      return null;
    }
    try {
      // The revision decides between two that come at the same time.
      await tokens.put(name, JSON.stringify({ ...record, used: true }), entry.revision);
    } catch {
      return null;
    }
    const cookie = newCredential();
    const key = newCredential();
    const session = { ownerHash: this.#owner.hash, keyHash: hashOf(key), expiresAt: this.#now() + SESSION_MS };
    await tokens.put(sessionKey(hashOf(cookie)), JSON.stringify(session), 0);
    this.#sessions.set(hashOf(cookie), session);
    await tokens.delete(name);
    return { cookie, key, maxAgeSeconds: SESSION_MS / 1000 };
  }

  async endSession(principal: Principal): Promise<void> {
    if (principal.kind !== 'session') return;
    await this.#options.tokens.delete(sessionKey(principal.id));
    this.#sessions.delete(principal.id);
    this.#announce();
  }

  /** Puts a new owner token in force, first in its file; every session and code of the old one ends. */
  async rotate(): Promise<string> {
    const { tokens, home } = this.#options;
    const token = newCredential();
    await writeTokenFile(home, token);
    const record: OwnerRecord = { hash: hashOf(token), at: this.#now() };
    this.#ownerRevision = await tokens.put(OWNER_KEY, JSON.stringify(record));
    this.#owner = record;
    this.#announce();
    await this.sweep();
    return token;
  }

  /** Removes what is of no use any more: codes and sessions that are too old or of another owner token. */
  async sweep(): Promise<void> {
    const { tokens } = this.#options;
    for (const key of await tokens.keys()) {
      if (key === OWNER_KEY) continue;
      const entry = await tokens.get(key);
      const record = readRecord(endingRecord, entry?.value ?? null);
      if (record !== null && record.ownerHash === this.#owner.hash && record.expiresAt > this.#now()) continue;
      await tokens.delete(key);
    }
  }

  #accept(key: string, value: Uint8Array | null, revision: number): void {
    if (key === OWNER_KEY) {
      const owner = readRecord(ownerRecord, value);
      if (owner === null || revision <= this.#ownerRevision) return;
      this.#ownerRevision = revision;
      if (owner.hash === this.#owner.hash) return;
      this.#owner = owner;
      this.#announce();
      return;
    }
    if (!key.startsWith(SESSION_PREFIX)) return;
    const id = key.slice(SESSION_PREFIX.length);
    const session = readRecord(sessionRecord, value);
    if (session !== null) {
      this.#sessions.set(id, session);
    } else if (this.#sessions.delete(id)) {
      this.#announce();
    }
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}
