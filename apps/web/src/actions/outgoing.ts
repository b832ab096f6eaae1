import { RpcError } from '../connection/rpc-error.ts';
import { draftOf, drafts, keepDraft, NEW_THREAD, type Outgoing } from '../state/drafts.ts';
import type { JournalState } from '../state/model.ts';
import { ui } from '../state/stores.ts';
import { isConnected, request } from './rpc.ts';
import { createThread, selectThread } from './threads.ts';
import { codeOf, showError } from './toasts.ts';

/** Requests under way, and what is known of those that got no answer, by draft and request id. */
const inFlight = new Set<string>();
const unanswered = new Map<string, { count: number; told: unknown }>();

const RESEND_MS = 2000;
const RESEND_MAX_MS = 30_000;

export function newRequestId(): string {
  return `web-${crypto.randomUUID()}`;
}

/**
 * Sends a composer's message. The text stays in the draft until the server has answered. A refusal gives it back for
 * editing; a lost answer keeps the request, and the same one is sent again, after a wait or at the next connection.
 * A person may take the text back meanwhile, so an answer changes only a draft that still waits for it.
 */
export async function sendOutgoing(draftId: string, outgoing: Outgoing): Promise<void> {
  const key = keyOf(draftId, outgoing);
  if (inFlight.has(key)) return;
  inFlight.add(key);
  const { text } = draftOf(drafts.get(), draftId);
  keepDraft(draftId, { text, outgoing });
  try {
    await transmit(draftId, outgoing);
    unanswered.delete(key);
    if (waitsFor(draftId, outgoing)) keepDraft(draftId, { text: '' });
  } catch (error) {
    if (waitsFor(draftId, outgoing)) noteFailure(draftId, outgoing, error);
    else unanswered.delete(key);
  } finally {
    inFlight.delete(key);
  }
}

function noteFailure(draftId: string, outgoing: Outgoing, error: unknown): void {
  const key = keyOf(draftId, outgoing);
  if (error instanceof RpcError && !error.unconfirmed) {
    // What is refused is not stored, so the text goes back to be edited and gets a new id with the next try.
    unanswered.delete(key);
    keepDraft(draftId, { text: draftOf(drafts.get(), draftId).text });
    showError(error);
    return;
  }
  const { count, told } = unanswered.get(key) ?? { count: 0, told: null };
  const connected = isConnected();
  unanswered.set(key, { count: count + 1, told: connected ? codeOf(error) : told });
  if (!connected) return; // The next connection sends it again.
  if (told !== codeOf(error)) showError(error);
  const again = () => {
    if (!waitsFor(draftId, outgoing)) unanswered.delete(key);
    else if (isConnected()) void sendOutgoing(draftId, outgoing);
  };
  setTimeout(again, Math.min(RESEND_MS * 2 ** count, RESEND_MAX_MS));
}

/** True while a draft holds this very request: neither taken back, nor replaced, nor seen stored. */
function waitsFor(draftId: string, outgoing: Outgoing): boolean {
  const held = draftOf(drafts.get(), draftId).outgoing;
  return held !== undefined && requestIdOf(held) === requestIdOf(outgoing);
}

async function transmit(draftId: string, outgoing: Outgoing): Promise<void> {
  if (outgoing.kind === 'turn') {
    await request('turn.start', outgoing.params);
  } else if (outgoing.kind === 'steer') {
    if (await steer(outgoing)) return;
    if (!waitsFor(draftId, outgoing)) return;
    void sendOutgoing(draftId, { kind: 'turn', params: outgoing.otherwise });
  } else {
    const thread = await createThread(outgoing.title, null, outgoing.threadRequestId);
    if (!waitsFor(draftId, outgoing)) return;
    const params = { ...outgoing.turn, threadId: thread.id, branchId: thread.defaultBranchId };
    const turn: Outgoing = { kind: 'turn', params };
    // The message moves to its thread before anything else can fail, and is sent from there.
    keepDraft(thread.id, { text: params.content, outgoing: turn });
    if (draftId === NEW_THREAD && ui.get().selected === null) selectThread(thread.id);
    void sendOutgoing(thread.id, turn);
  }
}

/** Adds to a run; false where it has ended already. */
async function steer({ runId, clientRequestId, otherwise }: Outgoing & { kind: 'steer' }): Promise<boolean> {
  try {
    const params = { runId, expectedRunId: runId, content: otherwise.content, clientRequestId };
    return (await request('run.steer', params)).accepted;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'RUN_SETTLED') return false;
    throw error;
  }
}

/** At a new connection: sends again what has no answer yet. */
export function resendAll(): void {
  for (const [draftId, { outgoing }] of Object.entries(drafts.get())) {
    if (outgoing) void sendOutgoing(draftId, outgoing);
  }
}

/** Clears the drafts whose message was seen stored by an event: no answer is needed any more. */
export function clearStored({ stored }: Pick<JournalState, 'stored'>): void {
  for (const [draftId, { outgoing }] of Object.entries(drafts.get())) {
    if (outgoing && stored.has(requestIdOf(outgoing))) keepDraft(draftId, { text: '' });
  }
}

function keyOf(draftId: string, outgoing: Outgoing): string {
  return `${draftId} ${requestIdOf(outgoing)}`;
}

function requestIdOf(outgoing: Outgoing): string {
  if (outgoing.kind === 'turn') return outgoing.params.clientRequestId;
  return outgoing.kind === 'first' ? outgoing.turn.clientRequestId : outgoing.clientRequestId;
}
