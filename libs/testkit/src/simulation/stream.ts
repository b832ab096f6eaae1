/** A message as the simulated server has stored it. */
export interface SimulatedMessage {
  streamSeq: number;
  subject: string;
  data: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

export type PublishAnswer =
  | { kind: 'stored'; seq: number; duplicate: boolean }
  | { kind: 'wrong-sequence'; lastSeq: number };

const ID = 'Nats-Msg-Id';
const EXPECTED = 'Nats-Expected-Last-Subject-Sequence';

const matches = (filter: string, subject: string): boolean => {
  const wanted = filter.split('.');
  const found = subject.split('.');
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return found.length > index;
    if (found[index] === undefined || (token !== '*' && token !== found[index])) return false;
  }
  return wanted.length === found.length;
};

/** True where a subject matches a filter with `*` and `>`. */
export const matchesFilter = matches;

/** One stream: what JetStream does with a publication, and what it was seen to answer. */
export class SimulatedStream {
  readonly messages: SimulatedMessage[] = [];
  readonly #lastOf = new Map<string, number>();
  readonly #ids = new Map<string, { seq: number; at: number }>();

  get lastSeq(): number {
    return this.messages.at(-1)?.streamSeq ?? 0;
  }

  lastOf(subject: string): number {
    return this.#lastOf.get(subject) ?? 0;
  }

  at(seq: number): SimulatedMessage | undefined {
    return this.messages[seq - 1];
  }

  /** `now` in virtual milliseconds. With three copies an exact retry is a duplicate, with one its sequence is wrong. */
  publish(
    subject: string,
    data: Uint8Array,
    headers: Readonly<Record<string, string>>,
    at: { now: number; dedupeMs: number; replicas: 1 | 3 },
  ): PublishAnswer {
    const id = headers[ID];
    const known = id === undefined ? undefined : this.#ids.get(id);
    const duplicate = known !== undefined && at.now - known.at < at.dedupeMs ? known : undefined;
    if (duplicate !== undefined && at.replicas === 3) return { kind: 'stored', seq: duplicate.seq, duplicate: true };
    const expected = headers[EXPECTED];
    const last = this.lastOf(subject);
    if (expected !== undefined && Number(expected) !== last) return { kind: 'wrong-sequence', lastSeq: last };
    if (duplicate !== undefined) return { kind: 'stored', seq: duplicate.seq, duplicate: true };
    const streamSeq = this.lastSeq + 1;
    this.messages.push({ streamSeq, subject, data, headers });
    this.#lastOf.set(subject, streamSeq);
    if (id !== undefined) this.#ids.set(id, { seq: streamSeq, at: at.now });
    return { kind: 'stored', seq: streamSeq, duplicate: false };
  }

  /** Messages from a sequence on that match, as a copy of the stream up to `seenSeq` knows them. */
  read(
    fromSeq: number,
    max: number,
    filter: string | undefined,
    seenSeq: number,
  ): { found: SimulatedMessage[]; pending: number } {
    const found: SimulatedMessage[] = [];
    let pending = 0;
    for (let seq = Math.max(1, fromSeq); seq <= Math.min(seenSeq, this.lastSeq); seq += 1) {
      const message = this.messages[seq - 1] as SimulatedMessage;
      if (filter !== undefined && !matches(filter, message.subject)) continue;
      if (found.length < max) found.push(message);
      else pending += 1;
    }
    return { found, pending };
  }

  /** The stream comes back shorter, as after a damaged block: sequences are given again to other messages. */
  loseBehind(seq: number): void {
    for (const { headers } of this.messages.splice(seq)) if (headers[ID] !== undefined) this.#ids.delete(headers[ID]);
    this.#lastOf.clear();
    for (const { subject, streamSeq } of this.messages) this.#lastOf.set(subject, streamSeq);
  }
}
