import { decodeCommit, type RawMessage } from '@rookery/journal';
import type { Projection, Write } from '@rookery/kernel';
import { type Checkpoint, type CommitMark, type QuarantineRow, quarantineScope } from './bookkeeping.ts';

/** The head of a subject after a batch; without `commit` only foreign messages came. */
export interface Head {
  streamSeq: number;
  commit: { id: string; at: string } | null;
}

export type Stop =
  | { reason: 'hole'; after: number; found: number }
  | { reason: 'too_new'; streamSeq: number; detail: string };

/** What a batch of messages means, before anything is written. */
export interface Plan {
  checkpoint: Checkpoint;
  writes: Write[];
  heads: Map<string, Head>;
  quarantine: Map<string, QuarantineRow>;
  /** The commits that were applied and are to be handed out. */
  accepted: RawMessage[];
  /** Why the messages behind those of this plan may not be applied. */
  stop: Stop | null;
}

export interface PlanContext {
  projection: Projection;
  checkpoint: Checkpoint;
  /** Scopes that are quarantined already. */
  quarantined: ReadonlySet<string>;
  /** True where all sequences of a range are on record as erased. */
  isErased(fromSeq: number, toSeq: number): boolean;
  /** Types of events whose commits are handed out; default all. */
  handOut?: ReadonlySet<string> | null;
  /** The file refused this commit: quarantine what it belongs to. Only with a single message. */
  refused?: string;
}

const DETAIL_CHARS = 200;

/** Decides what a batch of messages does to a read model. Messages that were applied before are left out. */
export function planBatch(context: PlanContext, messages: readonly RawMessage[]): Plan {
  const { projection } = context;
  let { appliedSeq, appliedCount, foreignCount, skippedCount } = context.checkpoint;
  const marks: CommitMark[] = [...context.checkpoint.marks];
  const plan: Omit<Plan, 'checkpoint'> = {
    writes: [],
    heads: new Map(),
    quarantine: new Map(),
    accepted: [],
    stop: null,
  };

  const isQuarantined = (scope: string) => context.quarantined.has(scope) || plan.quarantine.has(scope);
  const anyQuarantined = () => context.quarantined.size > 0 || plan.quarantine.size > 0;
  const moveHead = ({ subject, streamSeq }: RawMessage, commit: Head['commit']) =>
    plan.heads.set(subject, { streamSeq, commit: commit ?? plan.heads.get(subject)?.commit ?? null });

  const skip = (message: RawMessage, reason: QuarantineRow['reason'], detail: string) => {
    skippedCount += 1;
    const scope = quarantineScope(message.subject);
    if (isQuarantined(scope)) return;
    plan.quarantine.set(scope, {
      scope,
      subject: message.subject,
      stream_seq: message.streamSeq,
      reason,
      detail: detail.slice(0, DETAIL_CHARS),
    });
  };

  for (const message of messages) {
    if (message.streamSeq <= appliedSeq) continue;
    if (message.streamSeq !== appliedSeq + 1 && !context.isErased(appliedSeq + 1, message.streamSeq - 1)) {
      plan.stop = { reason: 'hole', after: appliedSeq, found: message.streamSeq };
      break;
    }
    const decoded = decodeCommit(message);
    if (!decoded.ok && decoded.reason === 'too_new') {
      plan.stop = { reason: 'too_new', streamSeq: message.streamSeq, detail: decoded.detail };
      break;
    }
    appliedSeq = message.streamSeq;
    if (!decoded.ok) {
      moveHead(message, null);
      if (decoded.reason === 'foreign') foreignCount += 1;
      else skip(message, 'damaged', decoded.detail);
      continue;
    }
    const { commit } = decoded.stored;
    moveHead(message, commit);
    if (anyQuarantined() && isQuarantined(quarantineScope(message.subject))) {
      skippedCount += 1;
      continue;
    }
    if (context.refused !== undefined) {
      skip(message, 'inconsistent', context.refused);
      continue;
    }
    try {
      plan.writes.push(...projection.project(decoded.stored));
    } catch {
      skip(message, 'inconsistent', 'the commit contradicts itself');
      continue;
    }
    appliedCount += 1;
    marks.unshift({ seq: message.streamSeq, id: commit.id });
    marks.length = Math.min(marks.length, 2);
    const { handOut = null } = context;
    if (handOut === null || commit.events.some(({ type }) => handOut.has(type))) plan.accepted.push(message);
  }
  const { created, journalId } = context.checkpoint;
  return { ...plan, checkpoint: { created, journalId, appliedSeq, marks, appliedCount, foreignCount, skippedCount } };
}
