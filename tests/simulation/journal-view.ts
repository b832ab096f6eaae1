import type { SimulatedMessage } from '@rookery/testkit/simulation';

export interface ViewEvent {
  type: string;
  itemId?: string;
  payload: Record<string, unknown>;
}

/** A commit as it stands in the stream; no code of the product reads it. */
export interface ViewCommit {
  streamSeq: number;
  subject: string;
  id: string;
  at: string;
  by: string;
  cause: string;
  runId?: string;
  events: ViewEvent[];
}

export interface ViewRun {
  runId: string;
  threadId: string;
  clientRequestId: string;
  modelId: string;
  content: string;
  submittedSeq: number;
  holder: string | null;
  settledSeq: number | null;
  status: string | null;
  reasonCode: string | null;
  /** Model requests that were announced. */
  prepared: number;
}

/** What is left to a turn of its own. */
export interface LeftSteer {
  threadId: string;
  runId: string;
  itemId: string;
  content: unknown;
}

const decoder = new TextDecoder();

/** The facts of a journal that checks and ends are decided by, kept as messages are stored. */
export class JournalView {
  readonly commits: ViewCommit[] = [];
  readonly runs = new Map<string, ViewRun>();
  readonly left: LeftSteer[] = [];
  readonly archived = new Map<string, boolean>();
  /** Tool calls that were announced. */
  readonly announced = new Map<string, number>();
  unsettled = 0;

  /** The commit of a message, null where it is none of ours. */
  take(message: SimulatedMessage): ViewCommit | null {
    if (message.headers['Rookery-Commit'] !== '1') return null;
    const body = JSON.parse(decoder.decode(message.data)) as Omit<ViewCommit, 'streamSeq' | 'subject'>;
    const commit: ViewCommit = { ...body, streamSeq: message.streamSeq, subject: message.subject };
    this.commits.push(commit);
    const [, , area, threadId = '', kind] = message.subject.split('.');
    if (area !== 'thread') return commit;
    for (const event of commit.events) {
      if (kind === 'turns') this.#takeTurns(event, threadId, commit);
      else if (kind === 'run') this.#takeRun(event, threadId, commit);
    }
    return commit;
  }

  #takeTurns({ type, payload }: ViewEvent, threadId: string, { streamSeq }: ViewCommit): void {
    if (type === 'thread.archived') this.archived.set(threadId, true);
    else if (type === 'thread.unarchived') this.archived.set(threadId, false);
    else if (type === 'item.completed') {
      const run = payload.run as { id: string; modelId: string };
      const item = payload.item as { content: string };
      if (this.runs.has(run.id)) return;
      this.unsettled += 1;
      this.runs.set(run.id, {
        runId: run.id,
        threadId,
        clientRequestId: String(payload.clientRequestId),
        modelId: run.modelId,
        content: String(item.content),
        submittedSeq: streamSeq,
        holder: null,
        settledSeq: null,
        status: null,
        reasonCode: null,
        prepared: 0,
      });
    }
  }

  #takeRun({ type, itemId = '', payload }: ViewEvent, threadId: string, commit: ViewCommit): void {
    const run = this.runs.get(commit.runId ?? '');
    if (run === undefined) return;
    const item = payload.item as { kind?: string } | undefined;
    if (type === 'run.claimed') run.holder ??= String(payload.holder);
    else if (type === 'model.input_prepared') run.prepared += 1;
    else if (type === 'item.started' && item?.kind === 'tool_call') this.announced.set(itemId, commit.streamSeq);
    else if (type === 'run.steers_left') {
      for (const { itemId: left, content } of payload.steers as { itemId: string; content: unknown }[]) {
        this.left.push({ threadId, runId: run.runId, itemId: left, content });
      }
    } else if (type === 'run.settled') {
      if (run.settledSeq === null) this.unsettled -= 1;
      run.settledSeq ??= commit.streamSeq;
      run.status ??= String(payload.status);
      run.reasonCode ??= String(payload.reasonCode ?? '');
    }
  }

  /** Left steers without a turn of their own, those of archived threads aside. */
  waitingSteers(): LeftSteer[] {
    const submitted = new Set([...this.runs.values()].map(({ clientRequestId }) => clientRequestId));
    return this.left.filter(
      ({ threadId, runId, itemId }) =>
        this.archived.get(threadId) !== true && !submitted.has(`steer:${runId}:${itemId}`),
    );
  }
}
