/** Who is behind a request. */
export interface Principal {
  kind: 'owner' | 'session';
  /** Hash of the credential, never the credential. */
  id: string;
  /** Hash of the owner token under which it was given out; another token ends it. */
  ownerHash: string;
  /** Milliseconds since 1970; null = until it is revoked. */
  expiresAt: number | null;
}
