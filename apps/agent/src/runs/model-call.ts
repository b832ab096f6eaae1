import type { LoopInput, ModelMessage } from '@rookery/kernel';
import { AppError, type ErrorCode, type RunConfig, type Timings } from '@rookery/protocol';
import type { ProviderError, WireMessage, WireTool } from '@rookery/provider';
import type { Models } from '../models/models.ts';
import { untilAnswered } from '../passing.ts';

export interface ModelCall {
  config: RunConfig;
  messages: ModelMessage[];
  models: Models;
  timings: Timings;
  signal: AbortSignal;
  /** Gets what the model says, in order. */
  input(input: LoopInput): void;
  onRetry(attempt: number, category: string, delayMs: number): void;
  /** Told each time that the call waits for NATS before it can begin. */
  onWait(code: ErrorCode): void;
}

const localDate = (): string => {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
};

const isProviderError = (error: unknown): error is ProviderError =>
  error instanceof AppError && error.code === 'PROVIDER_FAILED' && 'category' in error;

function reasonOf(error: unknown): { reasonCode: string; requestId: string | null } {
  if (isProviderError(error)) {
    return { reasonCode: `provider_${error.category}`, requestId: error.requestId ?? null };
  }
  if (error instanceof AppError && error.code === 'MODEL_NOT_CONFIGURED') {
    return { reasonCode: 'provider_configuration_changed', requestId: null };
  }
  return { reasonCode: 'agent_error', requestId: null };
}

/** Asks the model once and feeds its answer to the loop; a cancelled call says nothing more. */
export async function callModel(call: ModelCall): Promise<void> {
  const { config, models, timings, signal, input } = call;
  const tools: WireTool[] = config.tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
  const text = models.redactor.stream();
  const say = (piece: string) => {
    if (piece !== '' && !signal.aborted) input({ type: 'text', text: piece });
  };
  try {
    // A secret is read from NATS, which may be away at any time: that must not fail the run.
    const { endpoint, reasoningEffort } = await untilAnswered(
      () => models.endpoint(config.providerId, config.modelId),
      { signal, onWait: call.onWait },
    );
    const request = {
      ...endpoint,
      model: config.modelId,
      messages: call.messages as WireMessage[],
      signal,
      ...(tools.length === 0 ? {} : { tools }),
      ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    };
    const options = {
      timeouts: {
        connectMs: timings.providerConnectMs,
        headersMs: timings.providerHeadersMs,
        idleMs: timings.providerIdleMs,
      },
      retry: { baseMs: timings.providerRetryBaseMs, capMs: timings.providerRetryCapMs },
    };
    let usage: Extract<LoopInput, { type: 'model_finished' }>['usage'] = null;
    for await (const event of models.stream(request, options)) {
      if (signal.aborted) return;
      if (event.type === 'text.delta') say(text.push(event.text));
      else if (event.type === 'reasoning.delta') input({ type: 'reasoning', text: event.text });
      else if (event.type === 'tool_call.completed') {
        say(text.end());
        input({ type: 'tool_call', callId: event.id, name: event.name, arguments: event.arguments });
      } else if (event.type === 'usage.updated') usage = event.usage;
      else if (event.type === 'retry') call.onRetry(event.attempt, event.category, event.delayMs);
      else if (event.type === 'response.completed') {
        say(text.end());
        const { responseModelId, requestId } = event;
        input({ type: 'model_finished', responseModelId, requestId, usage, activityDate: localDate() });
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    say(text.end());
    input({ type: 'model_failed', ...reasonOf(error) });
    if (!isProviderError(error)) throw error;
  }
}
