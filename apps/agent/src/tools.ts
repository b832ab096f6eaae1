import { type Bus, callCommand } from '@rookery/bus';
import {
  AppError,
  type CommandRequest,
  canonicalSha256,
  commandSubject,
  type Timings,
  TOOL_REPLY_MS,
  type ToolCallState,
  type ToolDefinition,
  type ToolDescription,
  type ToolInvoke,
  type ToolResult,
  type Workspace,
  type WorkspacePrepare,
} from '@rookery/protocol';
import { faultPoint } from '@rookery/service';

export interface ToolCatalog {
  definitions: ToolDefinition[];
  readers: ReadonlySet<string>;
}

/** The tools of a runner, over NATS. */
export interface Tools {
  catalog(): Promise<ToolCatalog>;
  prepareWorkspace(
    request: WorkspacePrepare,
    about: Pick<CommandRequest, 'commandId' | 'agentId' | 'world'>,
  ): Promise<Workspace>;
  /** Runs one call to its end: never twice, and "effect unknown" where its end cannot be learned. */
  invoke(call: ToolInvoke, about: InvokeContext, signal: AbortSignal): Promise<ToolResult>;
}

export interface InvokeContext extends Pick<CommandRequest, 'agentId' | 'world'> {
  authorization?: CommandRequest['authorization'];
}

const CATALOG_MS = 60_000;
const INSPECT_WAIT_MS = 1000;
const PAUSE_MS = 200;
/** How long NATS may take to answer a ping. */
const NATS_ANSWER_MS = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A call that ended without a result of its own. */
export function failedResult(
  call: Pick<ToolInvoke, 'callId' | 'toolName'>,
  errorCode: string,
  output: string,
  cancelled = false,
): ToolResult {
  return {
    toolCallId: call.callId,
    toolName: call.toolName,
    ok: false,
    output,
    cancelled,
    durationMs: 0,
    truncated: false,
    errorCode,
  };
}

/** True where NATS itself answers now. */
async function natsAnswers(bus: Bus): Promise<boolean> {
  if (!bus.isConnected()) return false;
  const answer = bus.nc.rtt().then(
    () => true,
    () => false,
  );
  return Promise.race([answer, pause(NATS_ANSWER_MS).then(() => false)]);
}

/** The end of a call that the runner answered with an error: it did not start it. */
const refusedResult = (call: ToolInvoke, { code, message }: AppError): ToolResult =>
  failedResult(call, code.toLowerCase(), message);

/** A client of one runner. */
export function createTools(bus: Bus, runner: string, timings: Timings): Tools {
  let cached: { catalog: ToolCatalog; at: number } | null = null;
  const ask = async <T>(
    method: string,
    params: unknown,
    about: Pick<CommandRequest, 'commandId' | 'agentId' | 'world'> & Pick<Partial<CommandRequest>, 'authorization'>,
    timeoutMs: number,
    noResponderMs: number,
  ): Promise<T> => {
    const { commandId, agentId, world, authorization } = about;
    const request = { method, params, commandId, agentId, world, ...(authorization ? { authorization } : {}) };
    return (await callCommand<T>(bus, commandSubject('tool', method, runner), request, { timeoutMs, noResponderMs }))
      .result;
  };
  const unavailable = (error: unknown): never => {
    if (error instanceof AppError && error.code !== 'SERVICE_UNAVAILABLE') throw error;
    throw new AppError('RUNNER_UNAVAILABLE', { cause: error, details: { runner } });
  };

  const describe = async (): Promise<ToolCatalog> => {
    const about = { commandId: 'describe', agentId: 'main', world: 'home' };
    const { tools } = await ask<{ tools: ToolDescription[] }>('describe', {}, about, 5000, 5000).catch(unavailable);
    const definitions = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
      definitionSha256: canonicalSha256({ name, description, inputSchema }),
    }));
    return { definitions, readers: new Set(tools.filter((tool) => !tool.mutating).map((tool) => tool.name)) };
  };

  /** One question about a call that was sent: its state, or null where nobody answered. */
  const inspect = async (call: ToolInvoke, about: InvokeContext): Promise<ToolCallState | null> => {
    try {
      const params = { itemId: call.itemId, waitMs: INSPECT_WAIT_MS };
      return await ask<ToolCallState>(
        'inspect',
        params,
        { ...about, commandId: call.itemId },
        INSPECT_WAIT_MS + 2000,
        0,
      );
    } catch {
      return null;
    }
  };

  /** What the runner says to the call; its own error where it answered with one, null where nobody answered. */
  const send = async (call: ToolInvoke, about: InvokeContext): Promise<ToolCallState | AppError | null> => {
    try {
      return await ask<ToolCallState>('invoke', call, { ...about, commandId: call.itemId }, TOOL_REPLY_MS + 2000, 0);
    } catch (error) {
      // An error that we made of a failure of NATS has that failure as its cause.
      return error instanceof AppError && error.cause === undefined ? error : null;
    }
  };

  return {
    async catalog() {
      if (cached !== null && performance.now() - cached.at < CATALOG_MS) return cached.catalog;
      try {
        cached = { catalog: await describe(), at: performance.now() };
      } catch (error) {
        // What it said before still holds: definitions change only with the program.
        if (cached === null) throw error;
      }
      return cached.catalog;
    },
    prepareWorkspace: (request, about) =>
      ask<Workspace>('workspace.prepare', request, about, 10_000, 10_000).catch(unavailable),
    async invoke(call, about, signal) {
      let lastAnswer = performance.now();
      const cancel = () =>
        void ask('cancel', { itemId: call.itemId }, { ...about, commandId: call.itemId }, 2000, 0).catch(
          () => undefined,
        );
      signal.addEventListener('abort', cancel, { once: true });
      try {
        faultPoint('agent:before-invoke');
        let answer: ToolCallState | AppError | null = await send(call, about);
        let refusal: AppError | null = null;
        for (;;) {
          if (signal.aborted) return failedResult(call, 'cancelled', 'The call was cancelled.', true);
          const isSilent = performance.now() - Math.max(lastAnswer, bus.connectedAt()) > timings.toolSilenceMs;
          if (answer instanceof AppError) {
            if (answer.retry === 'never') return refusedResult(call, answer);
            // Perhaps it passes. Whether the call was started all the same is asked below.
            refusal = answer;
            await pause(PAUSE_MS);
            answer = await inspect(call, about);
          } else if (answer?.state === 'done') {
            return answer.result;
          } else if (answer?.state === 'lost') {
            return failedResult(
              call,
              'effect_unknown',
              'The tool runner was restarted during this call. Its effect is unknown.',
            );
          } else if (answer?.state === 'running') {
            lastAnswer = performance.now();
            refusal = null;
            answer = await inspect(call, about);
          } else if (isSilent && refusal !== null && answer !== null) {
            // "Never seen" is no progress: a runner may refuse for ever what it is sent.
            return refusedResult(call, refusal);
          } else if (isSilent && (await natsAnswers(bus))) {
            return failedResult(
              call,
              'effect_unknown',
              'The tool runner does not answer. The effect of this call is unknown.',
            );
          } else if (answer === null) {
            // Nobody could be heard: only a silence while NATS is there says something about the runner.
            if (isSilent) lastAnswer = performance.now();
            await pause(PAUSE_MS);
            answer = await inspect(call, about);
          } else {
            refusal = null;
            answer = await send(call, about);
          }
        }
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}
