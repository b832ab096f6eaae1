/** A JSON value that a tool accepts or answers with. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** One parameter of a tool: its JSON Schema, its check, and what holds where it is left out. */
export interface Parameter<T> {
  readonly schema: { readonly [key: string]: JsonValue };
  readonly required: boolean;
  readonly fallback: T;
  /** Says what is wrong with a value that was given, or null. */
  readonly refuse: (value: unknown) => string | null;
}

/** The parameters of one tool by name. */
export type Parameters = { readonly [name: string]: Parameter<unknown> };

/** The checked arguments of a tool, with defaults filled in. */
export type Arguments<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

/** Outcome of checking arguments that came from a model. */
export type CheckedArguments<P extends Parameters> =
  | { readonly ok: true; readonly value: Arguments<P> }
  | { readonly ok: false; readonly reason: string };

/** A required text of min to max characters (code points). */
export function text(description: string, min: number, max?: number): Parameter<string> {
  const schema = { type: 'string', description, ...(min > 0 && { minLength: min }), ...(max && { maxLength: max }) };
  const refuse = (value: unknown): string | null => {
    if (typeof value !== 'string') return 'must be a string';
    // Counted in code points only where the cheaper count of code units does not already decide.
    const length = max !== undefined && value.length > max ? [...value].length : value.length;
    if (length < min) return `must have at least ${min} characters`;
    return max !== undefined && length > max ? `must have at most ${max} characters` : null;
  };
  return { schema, required: true, fallback: '', refuse };
}

/** An optional text; null where it is left out. */
export function optionalText(description: string, min: number, max: number): Parameter<string | null> {
  return { ...text(description, min, max), required: false, fallback: null };
}

/** An optional whole number within bounds. A boolean, a fraction, or a number written as text is none. */
export function integer(description: string, fallback: number, min: number, max?: number): Parameter<number> {
  const schema = { type: 'integer', description, minimum: min, ...(max && { maximum: max }), default: fallback };
  const refuse = (value: unknown): string | null => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'must be an integer';
    if (value < min) return `must be at least ${min}`;
    return max !== undefined && value > max ? `must be at most ${max}` : null;
  };
  return { schema, required: false, fallback, refuse };
}

/** An optional boolean, false where it is left out. */
export function flag(description: string): Parameter<boolean> {
  const schema = { type: 'boolean', description, default: false };
  const refuse = (value: unknown): string | null => (typeof value === 'boolean' ? null : 'must be true or false');
  return { schema, required: false, fallback: false, refuse };
}

/** The JSON Schema of a tool's arguments. */
export function inputSchema(parameters: Parameters): { [key: string]: JsonValue } {
  const entries = Object.entries(parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, { ...parameter.schema }])),
    required: entries.filter(([, parameter]) => parameter.required).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Checks arguments for exact keys and types and fills in defaults. */
export function checkArguments<P extends Parameters>(parameters: P, value: unknown): CheckedArguments<P> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, reason: 'arguments must be an object' };
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(parameters, name)) return { ok: false, reason: `unknown argument ${name.slice(0, 64)}` };
  }
  const given = value as { readonly [name: string]: unknown };
  const checked: { [name: string]: unknown } = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (!Object.hasOwn(given, name)) {
      if (parameter.required) return { ok: false, reason: `${name} is missing` };
      checked[name] = parameter.fallback;
      continue;
    }
    const reason = parameter.refuse(given[name]);
    if (reason !== null) return { ok: false, reason: `${name} ${reason}` };
    checked[name] = given[name];
  }
  return { ok: true, value: checked as Arguments<P> };
}
