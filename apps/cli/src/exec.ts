import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { AppError } from '@rookery/protocol';
import { type ParsedArguments, UsageError } from './arguments.ts';
import { chooseModel, type ListedModel } from './choose-model.ts';
import { type PrinterOutput, printRun } from './run-printer.ts';
import { openFeed, type ThreadFeed } from './thread-feed.ts';

const CANCELLED = 130;

interface Started {
  threadId: string;
  branchId: string;
  /** Everything of the new turn lies behind this. */
  afterSeq: number;
}

async function readPrompt(given: string): Promise<string> {
  if (given !== '-') return given;
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

async function startThread(feed: ThreadFeed, values: ParsedArguments['values']): Promise<Started> {
  if (values.thread !== undefined) {
    const got = await feed.request<{ thread: { defaultBranchId: string }; snapshotSeq: number }>('thread.get', {
      threadId: values.thread,
    });
    return { threadId: values.thread, branchId: got.thread.defaultBranchId, afterSeq: got.snapshotSeq };
  }
  const created = await feed.request<{ thread: { id: string; defaultBranchId: string }; event: { seq: number } }>(
    'thread.create',
    {
      title: null,
      workspace: values.cwd === undefined ? null : { rootUri: resolve(values.cwd), kind: 'project' },
      clientRequestId: randomUUID(),
    },
  );
  return { threadId: created.thread.id, branchId: created.thread.defaultBranchId, afterSeq: created.event.seq };
}

const output: PrinterOutput = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};
const silent: PrinterOutput = { out: () => {}, err: () => {} };

/** `rookery exec`: one turn, streamed. Gives 0 completed, 1 failed, 130 cancelled. */
export async function exec({ values, switches, positional }: ParsedArguments): Promise<number> {
  if (values.thread !== undefined && values.cwd !== undefined) {
    throw new UsageError('--cwd is for a new thread; a thread keeps its folder');
  }
  const json = switches.has('json');
  const content = await readPrompt(positional[0] ?? '');
  if (content.trim() === '') throw new AppError('CONTENT_EMPTY');

  let printer: ReturnType<typeof printRun> | null = null;
  // Events of the run can come before turn.start is answered over a second connection; they wait here.
  let early: Parameters<ReturnType<typeof printRun>['event']>[0][] = [];
  let settled: () => void = () => {};
  const runEnded = new Promise<void>((done) => {
    settled = done;
  });

  const feed = await openFeed({
    onEvent: (event) => {
      if (json) process.stdout.write(`${JSON.stringify(event)}\n`);
      if (printer === null) return void early.push(event);
      printer.event(event);
      if (printer.settled() !== null) settled();
    },
    onStatus: (text) => process.stderr.write(`… ${text}\n`),
  });
  try {
    const model = chooseModel((await feed.request<{ models: ListedModel[] }>('model.list')).models, values);
    const { threadId, branchId, afterSeq } = await startThread(feed, values);
    if (values.thread === undefined && !json) process.stderr.write(`thread ${threadId}\n`);
    await feed.follow(threadId, afterSeq);
    const { runId } = await feed.request<{ runId: string }>('turn.start', {
      threadId,
      branchId,
      content,
      providerId: model.providerId,
      modelId: model.id,
      clientRequestId: randomUUID(),
    });
    stopOnInterrupt(feed, runId);
    printer = printRun(runId, json ? silent : output);
    for (const event of early) printer.event(event);
    early = [];
    if (printer.settled() === null) await Promise.race([runEnded, feed.done]);
    return exitCode(printer.settled());
  } finally {
    feed.stop();
  }
}

function stopOnInterrupt(feed: ThreadFeed, runId: string): void {
  let asked = false;
  process.on('SIGINT', () => {
    if (asked) process.exit(CANCELLED);
    asked = true;
    process.stderr.write('\n… stopping the run (Ctrl-C again leaves at once)\n');
    feed.request('run.cancel', { runId }).catch((error: unknown) => {
      // A run that ended meanwhile says so by its own event.
      if (error instanceof AppError && error.code !== 'RUN_SETTLED') process.stderr.write(`… ${error.message}\n`);
    });
  });
}

function exitCode(end: { status: string; reasonCode: string | null } | null): number {
  if (end?.status === 'completed') return 0;
  if (end?.status === 'cancelled') {
    process.stderr.write('cancelled\n');
    return CANCELLED;
  }
  process.stderr.write(`failed: ${end?.reasonCode ?? 'the run did not end'}\n`);
  return 1;
}
