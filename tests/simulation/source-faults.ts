import type { SourceChange } from './bundle.ts';

/** A deliberate fault in the sources, and what is to find it. */
export interface SourceFault {
  name: string;
  /** The rule of the checks that must find it. */
  by: string;
  /** What it breaks, for a person. */
  breaks: string;
  changes: SourceChange[];
}

const writer = 'apps/agent/src/runs/writer.ts';
const append = 'libs/journal/src/append.ts';
const settle = 'libs/kernel/src/run/settle.ts';
const loop = 'libs/kernel/src/run/loop.ts';
const decide = 'libs/kernel/src/thread/decide.ts';
const queries = 'apps/agent/src/queries.ts';

/** Each must be found within 500 seeds; the sources themselves are never changed. */
export const sourceFaults: readonly SourceFault[] = [
  {
    name: 'no-fence',
    by: 'fence',
    breaks: 'a holder that lost its run reloads the head of its subject and goes on',
    changes: [
      {
        file: writer,
        find: "if (result.outcome === 'conflict' || !(await",
        replace: "if (result.outcome === 'conflict') { this.#expected = result.lastSeq; continue; }\n if (!(await",
      },
    ],
  },
  {
    name: 'retry-without-look',
    by: 'settled-once',
    breaks: 'a wrong sequence is taken as a reason to append at the head',
    changes: [
      {
        file: append,
        find: 'const found = await look(bus, options, request, { atLeast, duplicateOf }, { deadline, mayBeStored });',
        replace: `const found: Look = result.kind === 'wrong-sequence' ? { kind: 'foreign', lastSeq: result.lastSeq }
          : await look(bus, options, request, { atLeast, duplicateOf }, { deadline, mayBeStored });`,
      },
    ],
  },
  {
    name: 'own-retry-is-a-conflict',
    by: 'settled-once',
    breaks: 'a commit of ours that was stored without an acknowledgement is taken for another writer',
    changes: [{ file: append, find: "if (mine !== undefined) return { kind: 'mine', message: mine };", replace: '' }],
  },
  {
    name: 'duplicate-believed',
    by: 'acknowledged-stored',
    breaks: 'a duplicate counts whatever message it names',
    changes: [
      {
        file: append,
        find: "if (result.kind === 'stored' && !result.duplicate) {",
        replace: "if (result.kind === 'stored') {",
      },
    ],
  },
  {
    name: 'settle-twice',
    by: 'settled-once',
    breaks: 'an orphan is settled again though it has ended',
    changes: [
      {
        file: settle,
        find: '    ...closeSteers(state, context.now),\n',
        replace:
          "    ...closeSteers(state, context.now),\n draft('run.settled', { status: outcome.status, settledAt: context.now, reasonCode: reason }),\n",
      },
    ],
  },
  {
    name: 'steer-dropped',
    by: 'steer-once',
    breaks: 'steers that no model call has seen are closed and not left to a turn',
    changes: [
      {
        file: settle,
        find: "return [...closed, draft('run.steers_left', { steers })];",
        replace: 'return [...closed, ...(steers.length > 99 ? [] : [])];',
      },
    ],
  },
  {
    name: 'effects-before-intent',
    by: 'intent-first',
    breaks: 'models and tools are asked before the commit that says so is stored',
    changes: [
      {
        file: writer,
        find: '      const batch = this.#take();\n',
        replace: `      const batch = this.#take();
      for (const entry of batch) for (const effect of entry.effects.splice(0)) this.#perform(effect);\n`,
      },
    ],
  },
  {
    name: 'turns-overlap',
    by: 'one-run-a-thread',
    breaks: 'a run is claimed while an earlier turn of its thread is open',
    changes: [
      {
        file: queries,
        find: "e.thread_id = r.thread_id AND e.status IN ('queued', 'running')",
        replace: "e.thread_id = r.thread_id AND e.status IN ('nothing')",
      },
    ],
  },
  {
    name: 'archived-takes-turns',
    by: 'archive',
    breaks: 'an archived thread accepts a turn',
    changes: [
      {
        file: decide,
        find: "  if (state.thread.archivedAt !== null) return refuse('THREAD_ARCHIVED');\n",
        replace: '',
      },
    ],
  },
  {
    name: 'archive-while-busy',
    by: 'archive',
    breaks: 'a thread is archived while a turn is open',
    changes: [
      {
        file: decide,
        find: "  if (state.unsettledTurns > 0) return refuse('THREAD_BUSY', { unsettledTurns: state.unsettledTurns });\n",
        replace: '',
      },
    ],
  },
  {
    name: 'cancel-ignored',
    by: 'cancel',
    breaks: 'a cancellation that was accepted changes nothing',
    changes: [
      {
        file: loop,
        find: "      settle(next, { status: 'cancelled', reasonCode: 'cancelled' });\n",
        replace: '',
      },
    ],
  },
  {
    name: 'text-lost',
    by: 'deltas',
    breaks: 'of deltas that wait together only the last is written',
    changes: [
      {
        file: 'apps/agent/src/runs/batches.ts',
        find: 'payload: { delta: last.payload.delta + event.payload.delta }',
        replace: 'payload: { delta: event.payload.delta }',
      },
    ],
  },
  {
    name: 'tool-runs-again',
    by: 'effect-once',
    breaks: 'a call with a receipt is run again',
    changes: [
      {
        file: 'apps/tool-runner/src/tool-calls.ts',
        find: '    if (receipt !== null) {\n      requireSameCall(receipt, call);\n      return stateOf(receipt);\n    }\n',
        replace: '    if (receipt !== null) {\n      this.#ports.receipts.forget(call.itemId);\n    }\n',
      },
    ],
  },
  {
    name: 'follow-up-of-each',
    by: 'follow-up',
    breaks: 'each instance makes a turn of its own of a left steer',
    changes: [
      {
        file: 'apps/agent/src/commands/turns.ts',
        find: 'modelId, clientRequestId: followUpRequestId },',
        replace: 'modelId, clientRequestId: deps.instance.slice(-20) + followUpRequestId.slice(20) },',
      },
    ],
  },
  {
    name: 'living-holder-settled',
    by: 'interrupted',
    breaks: 'every other instance counts as dead',
    changes: [
      {
        file: 'apps/agent/src/runs/orphans.ts',
        find: 'if (isPredecessor) return true;',
        replace: "if (isPredecessor || holder !== '') return true;",
      },
    ],
  },
  {
    name: 'batch-loses-a-row',
    by: 'digest',
    breaks: 'a transaction of several commits leaves its last row out',
    changes: [
      {
        file: 'libs/read-model/src/applier.ts',
        find: 'for (const write of coalesce(plan.writes, this.#transient)) this',
        replace: `const all = coalesce(plan.writes, this.#transient);
    for (const write of all.slice(0, plan.accepted.length > 3 ? -1 : all.length)) this`,
      },
    ],
  },
  {
    name: 'regression-unseen',
    by: 'regressed',
    breaks: 'a journal that came back shorter is followed as if it were the same',
    changes: [
      {
        file: 'libs/read-model/src/identity.ts',
        find: "  if (created !== seen.created) return regressed('creation time', created, seen.created, appliedSeq);\n",
        replace: '  if (created === seen.created) return null;\n',
      },
    ],
  },
  // What the simulator found in the sources as they were; each puts the fault back.
  {
    name: 'claims-share-an-id',
    by: 'closed',
    breaks: 'an instance whose view lags takes the claim of its own ended run for a retry, and runs it again',
    changes: [{ file: 'apps/agent/src/runs/scheduler.ts', find: 'this.#attempts += 1;', replace: '' }],
  },
  {
    name: 'id-without-parameters',
    by: 'acknowledged-stored',
    breaks: 'two requests of one name and other words at once are both told that they were accepted',
    changes: [{ file: append, find: 'return { ...result, other: decoded.stored.commit };', replace: 'return result;' }],
  },
  {
    name: 'cancel-over-own-head',
    by: 'fence',
    breaks: 'a second cancel takes the place of an end that is on its way to the journal',
    changes: [
      {
        file: 'apps/agent/src/commands/runs.ts',
        find: 'if (!(await isDone(held, deps.timings.holderSilentMs))) throw',
        replace: 'if (held.lastSeq < 0) throw',
      },
      { file: 'apps/agent/src/commands/runs.ts', find: 'if (claimed?.isSettled) continue;', replace: '' },
      {
        file: 'apps/agent/src/commands/runs.ts',
        find: 'if (claimed !== null && run.holder === deps.instance) {',
        replace: 'if (claimed !== null && run.holder === "") {',
      },
    ],
  },
  {
    name: 'steer-told-too-early',
    by: 'acknowledged-stored',
    breaks: 'the repetition of a steer is acknowledged before it is stored',
    changes: [
      {
        file: 'apps/agent/src/runs/holder.ts',
        find: '    if (taken !== undefined) return taken;\n',
        replace: '    if (taken !== undefined) return Promise.resolve(this.#writer.lastSeq);\n',
      },
    ],
  },
  {
    name: 'steer-refused-after-the-end',
    by: 'steer-refused',
    breaks: 'a steer that was stored is refused when it is repeated after the end of its run',
    changes: [
      {
        file: 'apps/agent/src/commands/runs.ts',
        find: '    return stored !== null;',
        replace: '    return false;',
      },
    ],
  },
  {
    name: 'lagging-copy-is-a-loss',
    by: 'comes-to-rest',
    breaks: 'a read that a lagging copy answers stops a read model for good',
    changes: [
      {
        file: 'libs/read-model/src/recognise.ts',
        find: 'if (isComplete(found) || isStopped() || performance.now() > deadline) return found;',
        replace: 'if (deadline > 0) return found;',
      },
    ],
  },
  {
    name: 'appends-after-a-regression',
    by: 'regressed',
    breaks: 'what was decided before a journal came back shorter is appended to it all the same',
    changes: [{ file: append, find: 'const stopped = options.guard?.() ?? null;', replace: 'const stopped = null;' }],
  },
  {
    name: 'canary-runs-back',
    by: 'time',
    breaks: 'the proof of life is written with a time before the one before',
    changes: [
      {
        file: 'apps/agent/src/canary.ts',
        find: 'commitTime(new Date(), last?.commit.at ?? null)',
        replace: 'new Date().toISOString()',
      },
    ],
  },
];
