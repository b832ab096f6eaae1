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
/** Answers that mean that the runner did not start the call. */
const REFUSALS = new Set([
  'TOOL_STALE',
  'TOOL_CONFLICT',
  'TOOL_DENIED',
  'INVALID_PARAMS',
  'METHOD_NOT_FOUND',
  'INVALID_REQUEST',
]);
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

  const send = async (call: ToolInvoke, about: InvokeContext): Promise<ToolCallState | null> => {
    try {
      return await ask<ToolCallState>('invoke', call, { ...about, commandId: call.itemId }, TOOL_REPLY_MS + 2000, 0);
    } catch (error) {
      if (error instanceof AppError && REFUSALS.has(error.code)) {
        return { state: 'done', result: failedResult(call, error.code.toLowerCase(), error.message) };
      }
      return null;
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
        let state = await send(call, about);
        for (;;) {
          if (signal.aborted) return failedResult(call, 'cancelled', 'The call was cancelled.', true);
          if (state !== null) lastAnswer = performance.now();
          if (state?.state === 'done') return state.result;
          if (state?.state === 'lost') {
            return failedResult(
              call,
              'effect_unknown',
              'The tool runner was restarted during this call. Its effect is unknown.',
            );
          }
          if (performance.now() - Math.max(lastAnswer, bus.connectedAt()) > timings.toolSilenceMs) {
            if (await natsAnswers(bus)) {
              return failedResult(
                call,
                'effect_unknown',
                'The tool runner does not answer. The effect of this call is unknown.',
              );
            }
            // Nobody could be heard: only a silence while NATS is there says something about the runner.
            lastAnswer = performance.now();
          }
          if (state === null) await pause(PAUSE_MS);
          state = state?.state === 'never_seen' ? await send(call, about) : await inspect(call, about);
        }
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}
