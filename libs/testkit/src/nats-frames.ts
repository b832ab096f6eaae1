/** One frame of the NATS client protocol with the bytes it came as. */
export interface NatsFrame {
  /** MSG, HMSG, PUB, HPUB, INFO, … */
  verb: string;
  subject: string;
  reply: string | null;
  /** Headers and body of a message; empty for other frames. */
  payload: Buffer;
  raw: Buffer;
}

const CRLF = Buffer.from('\r\n');
/** Arguments before the sizes: MSG subject sid [reply] size; PUB subject [reply] size. */
const messages: Record<string, { fixed: number; sizes: number }> = {
  MSG: { fixed: 2, sizes: 1 },
  HMSG: { fixed: 2, sizes: 2 },
  PUB: { fixed: 1, sizes: 1 },
  HPUB: { fixed: 1, sizes: 2 },
};

/** Splits a stream of bytes of either direction into frames. */
export class NatsFrames {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): NatsFrame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: NatsFrame[] = [];
    for (;;) {
      const frame = this.#take();
      if (frame === null) return frames;
      frames.push(frame);
    }
  }

  #take(): NatsFrame | null {
    const end = this.#rest.indexOf(CRLF);
    if (end < 0) return null;
    const [verb = '', ...words] = this.#rest.subarray(0, end).toString('latin1').split(' ');
    const shape = messages[verb.toUpperCase()];
    if (shape === undefined) return this.#cut(end + 2, { verb, subject: '', reply: null, payload: Buffer.alloc(0) });
    const size = Number(words.at(-1));
    const total = end + 2 + size + 2;
    if (this.#rest.length < total) return null;
    const reply = words.length > shape.fixed + shape.sizes ? (words[shape.fixed] ?? null) : null;
    const payload = this.#rest.subarray(end + 2, end + 2 + size);
    return this.#cut(total, { verb: verb.toUpperCase(), subject: words[0] ?? '', reply, payload });
  }

  #cut(length: number, frame: Omit<NatsFrame, 'raw'>): NatsFrame {
    const raw = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return { ...frame, raw };
  }
}
