import type { WireEvent } from '@rookery/protocol';
import { itemOfEvent, type Settled } from '@rookery/testkit';

/** What is under way, as the events of a connected client tell. */
export class LiveView {
  /** Runs whose answer is being streamed. */
  readonly streaming = new Set<string>();
  /** Open tool calls with their run. */
  readonly calls = new Map<string, string>();
  /** When each run was seen to begin, in milliseconds of `performance.now()`. */
  readonly begun = new Map<string, number>();
  readonly settled = new Map<string, Settled & { at: number }>();
  lastSeq = 0;

  take(event: WireEvent): void {
    const { type, runId, payload } = event;
    const item = itemOfEvent(event);
    this.lastSeq = event.seq;
    if (runId === null) return;
    if (type === 'run.state_changed' && payload.status === 'running') this.begun.set(runId, performance.now());
    if (type === 'item.started' && item?.kind === 'tool_call') this.calls.set(item.id, runId);
    if (type === 'item.started' && item?.kind === 'message') this.streaming.add(runId);
    if (type === 'item.completed' && item?.role === 'assistant' && item.kind === 'message')
      this.streaming.delete(runId);
    if (type === 'item.completed' && item?.kind === 'tool_result') this.calls.delete(String(item.data.toolCallItemId));
    if (type !== 'run.settled') return;
    this.streaming.delete(runId);
    for (const [call, run] of this.calls) if (run === runId) this.calls.delete(call);
    const reasonCode = typeof payload.reasonCode === 'string' ? payload.reasonCode : null;
    this.settled.set(runId, { status: String(payload.status), reasonCode, at: performance.now() });
  }
}
