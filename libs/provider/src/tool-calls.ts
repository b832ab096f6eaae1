import type { ToolFragment } from './chunk.ts';
import { ProviderError } from './error.ts';
import { JsonDepth } from './json-depth.ts';
import type { ProviderEvent } from './types.ts';

interface Call {
  readonly index: number;
  /** Unique in this answer. */
  id: string | undefined;
  /** As the provider sent it, which may be the same for several calls. */
  wireId: string | undefined;
  name: string | undefined;
  arguments: string;
  readonly json: JsonDepth;
}

/** More calls in one answer are no answer. */
const maxCalls = 128;

const protocolError = (): ProviderError =>
  new ProviderError({ category: 'protocol', retryable: false, reason: 'tool_calls' });

/**
 * Puts the fragments of tool calls together. Providers differ: some leave out the index, some send index 0 for every
 * call, some repeat id and name with each fragment, some send them once, some send whole calls at once.
 */
export class ToolCalls {
  readonly #calls: Call[] = [];
  /** Newest call of an index or id of the provider. */
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #maxArguments: number;
  readonly #newId: () => string;
  #argumentChars = 0;

  /** `maxArguments` bounds all arguments of an answer together; `newId` names a call that came without an id. */
  constructor(maxArguments: number, newId: () => string) {
    this.#maxArguments = maxArguments;
    this.#newId = newId;
  }

  get size(): number {
    return this.#calls.length;
  }

  /** Takes one fragment and returns what it adds; throws ProviderError (protocol) over a limit. */
  push(fragment: ToolFragment): ProviderEvent {
    const call = this.#find(fragment) ?? this.#open(fragment);
    const delta = fragment.arguments ?? '';
    this.#argumentChars += delta.length;
    if (this.#argumentChars > this.#maxArguments) throw protocolError();
    if (fragment.index !== undefined) this.#byIndex.set(fragment.index, call);
    if (fragment.id && !call.wireId) this.#name(call, fragment.id);
    call.name ??= fragment.name;
    call.arguments += delta;
    call.json.push(delta);
    return {
      type: 'tool_call.arguments_delta',
      index: call.index,
      ...(call.id ? { id: call.id } : {}),
      ...(call.name ? { name: call.name } : {}),
      delta,
    };
  }

  /** The whole calls in the order in which they began; throws ProviderError (protocol) where one has no name. */
  complete(): ProviderEvent[] {
    return this.#calls.map((call) => {
      if (!call.name) throw protocolError();
      const id = call.id ?? this.#newId();
      return { type: 'tool_call.completed', index: call.index, id, name: call.name, arguments: call.arguments };
    });
  }

  #find(fragment: ToolFragment): Call | undefined {
    const byId = fragment.id === undefined ? undefined : this.#byId.get(fragment.id);
    let call = fragment.index === undefined ? (byId ?? this.#calls.at(-1)) : this.#byIndex.get(fragment.index);
    // Index 0 for every call: a repeated id leads back to its own.
    if (call && byId && call.wireId !== fragment.id) call = byId;
    return call && startsAnother(call, fragment) ? undefined : call;
  }

  #open(fragment: ToolFragment): Call {
    if (this.#calls.length >= maxCalls) throw protocolError();
    if (!fragment.name && !fragment.id && fragment.index === undefined) throw protocolError();
    const call: Call = {
      index: this.#calls.length,
      id: undefined,
      wireId: undefined,
      name: undefined,
      arguments: '',
      json: new JsonDepth(),
    };
    this.#calls.push(call);
    return call;
  }

  /** Results are matched by id, so two calls never keep the same one. */
  #name(call: Call, id: string): void {
    call.wireId = id;
    call.id = this.#byId.has(id) || id.length > 200 ? this.#newId() : id;
    this.#byId.set(id, call);
  }
}

/** True where a fragment that seems to belong to `call` can only be the beginning of the next one. */
function startsAnother(call: Call, fragment: ToolFragment): boolean {
  if (!fragment.name) return false;
  if (fragment.id && call.wireId && fragment.id !== call.wireId) return true;
  return call.json.closed && /^\s*\{/.test(fragment.arguments ?? '');
}
