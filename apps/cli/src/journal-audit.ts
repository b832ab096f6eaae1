import { decodeCommit, type StoredMessage } from '@rookery/journal';
import { AppError, parseSubject, type StoredCommit } from '@rookery/protocol';

export interface Problem {
  stream: string;
  streamSeq: number;
  subject: string;
  what: string;
}

/** What a stream's messages say about its health, gathered in one pass in stream order. */
export class JournalAudit {
  readonly problems: Problem[] = [];
  commits = 0;
  foreign = 0;
  readonly #stream: string;
  readonly #ids = new Map<string, number>();
  readonly #settled = new Set<string>();
  readonly #epochs = new Map<string, number>();

  constructor(stream: string) {
    this.#stream = stream;
  }

  /** Looks at the next message; READMODEL_TOO_OLD where a newer program wrote it. */
  add(message: StoredMessage): void {
    const decoded = decodeCommit(message);
    if (decoded.ok) {
      this.commits += 1;
      this.#rules(message, decoded.stored);
    } else if (decoded.reason === 'foreign') {
      this.foreign += 1;
    } else if (decoded.reason === 'too_new') {
      throw new AppError('READMODEL_TOO_OLD', { details: { seq: message.streamSeq } });
    } else {
      this.#report(message, `damaged: ${decoded.detail}`);
    }
  }

  #report({ streamSeq, subject }: { streamSeq: number; subject: string }, what: string): void {
    this.problems.push({ stream: this.#stream, streamSeq, subject, what });
  }

  #rules(message: StoredMessage, stored: StoredCommit): void {
    const { commit, subject, streamSeq } = stored;
    const first = this.#ids.get(commit.id);
    if (first !== undefined) this.#report(stored, `the commit of sequence ${first} again`);
    else this.#ids.set(commit.id, streamSeq);
    if (message.messageId !== commit.id) this.#report(stored, 'its message id is not its commit id');
    if (!commit.id.startsWith(`${subject}/`)) this.#report(stored, 'its id names another subject');
    if (parseSubject(subject)?.kind !== 'run') return;
    if (this.#settled.has(subject)) this.#report(stored, 'stands after the end of its run');
    for (const { type, payload } of commit.events) {
      if (type === 'run.settled') this.#settled.add(subject);
      if (type !== 'run.claimed') continue;
      const epoch = Number(payload.epoch);
      if (epoch !== (this.#epochs.get(subject) ?? 0) + 1) this.#report(stored, `claimed with epoch ${epoch}`);
      this.#epochs.set(subject, epoch);
    }
  }
}
