import { RpcError } from '../connection/rpc-error.ts';
import { draftOf, drafts, keepDraft, NEW_THREAD, type Outgoing } from '../state/drafts.ts';
import { journal, ui } from '../state/stores.ts';
import { isConnected, request } from './rpc.ts';
import { createThread, selectThread } from './threads.ts';
import { showError } from './toasts.ts';

const inFlight = new Set<string>();

export function newRequestId(): string {
  return `web-${crypto.randomUUID()}`;
}

/**
 * Sends a composer's message. The text stays in the draft until the server has answered. A refusal gives it back for
 * editing; a lost answer keeps the request, and the same one is sent again at the next connection.
 */
export async function sendOutgoing(draftId: string, outgoing: Outgoing): Promise<void> {
  if (inFlight.has(draftId)) return;
  inFlight.add(draftId);
  const { text } = draftOf(drafts.get(), draftId);
  keepDraft(draftId, { text, outgoing });
  try {
    await transmit(draftId, outgoing);
    keepDraft(draftId, { text: '' });
  } catch (error) {
    // What is refused is not stored, so the text goes back to be edited and gets a new id with the next try.
    const refused = error instanceof RpcError && !error.unconfirmed;
    if (refused) keepDraft(draftId, { text });
    if (refused || isConnected()) showError(error);
  } finally {
    inFlight.delete(draftId);
  }
}

async function transmit(draftId: string, outgoing: Outgoing): Promise<void> {
  if (outgoing.kind === 'turn') {
    await request('turn.start', outgoing.params);
  } else if (outgoing.kind === 'steer') {
    if (await steer(outgoing)) return;
    const turn: Outgoing = { kind: 'turn', params: outgoing.otherwise };
    keepDraft(draftId, { text: outgoing.otherwise.content, outgoing: turn });
    await transmit(draftId, turn);
  } else {
    const thread = await createThread(outgoing.title, null, outgoing.threadRequestId);
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

/** After a reconnect: sends again what has no answer yet, unless an event showed meanwhile that it is stored. */
export async function resendAll(): Promise<void> {
  for (const [draftId, draft] of Object.entries(drafts.get())) {
    if (!draft.outgoing) continue;
    if (journal.get().stored.has(requestIdOf(draft.outgoing))) keepDraft(draftId, { text: '' });
    else await sendOutgoing(draftId, draft.outgoing);
  }
}

function requestIdOf(outgoing: Outgoing): string {
  if (outgoing.kind === 'turn') return outgoing.params.clientRequestId;
  return outgoing.kind === 'first' ? outgoing.turn.clientRequestId : outgoing.clientRequestId;
}
