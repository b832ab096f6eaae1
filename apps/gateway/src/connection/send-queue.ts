/** What the queue needs of a WebSocket. */
export interface FrameSink {
  /** Bytes that were handed over and not yet taken by the network. */
  readonly bufferedAmount: number;
  send(frame: string | Buffer, written: (error?: Error | null) => void): void;
}

export interface SendQueueOptions {
  /** Frames that may wait. */
  capacity: number;
  /** Bytes that may wait. */
  capacityBytes: number;
  /** Bytes in the socket above which frames wait here. */
  highWaterBytes: number;
  /** Time in which the oldest frame in the socket must be taken. */
  sendTimeoutMs: number;
  /** The reader is too slow; called once, and nothing is sent afterwards. */
  onTooSlow(why: 'queue' | 'timeout'): void;
}

interface Waiting {
  frame: string | Buffer;
  written: (() => void) | undefined;
}

/** Frames on their way to one client: bounded in number, bytes and time, always in order. */
export class SendQueue {
  readonly #sink: FrameSink;
  readonly #options: SendQueueOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inSocket = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(sink: FrameSink, options: SendQueueOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get depth(): number {
    return this.#waiting.length;
  }

  /** Sends a frame, or lets it wait; `written` is called when the network took it. */
  push(frame: string | Buffer, written?: () => void): void {
    if (this.#ended) return;
    if (this.#waiting.length === 0 && this.#sink.bufferedAmount < this.#options.highWaterBytes) {
      this.#write({ frame, written });
      return;
    }
    this.#waiting.push({ frame, written });
    this.#waitingBytes += frame.length;
    if (this.#waiting.length > this.#options.capacity || this.#waitingBytes > this.#options.capacityBytes) {
      this.#tooSlow('queue');
    }
  }

  /** Forgets what waits; nothing is sent afterwards. */
  end(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    clearTimeout(this.#timer);
  }

  #write({ frame, written }: Waiting): void {
    this.#inSocket += 1;
    if (this.#inSocket === 1) this.#watch();
    this.#sink.send(frame, (error) => {
      this.#inSocket -= 1;
      if (this.#ended || error) return;
      written?.();
      if (this.#inSocket === 0) clearTimeout(this.#timer);
      else this.#watch();
      this.#refill();
    });
  }

  #refill(): void {
    while (!this.#ended && this.#waiting.length > 0 && this.#sink.bufferedAmount < this.#options.highWaterBytes) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.frame.length;
      this.#write(next);
    }
  }

  /** Every frame that the network takes is progress and starts the time anew. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tooSlow('timeout'), this.#options.sendTimeoutMs);
  }

  #tooSlow(why: 'queue' | 'timeout'): void {
    if (this.#ended) return;
    this.end();
    this.#options.onTooSlow(why);
  }
}
