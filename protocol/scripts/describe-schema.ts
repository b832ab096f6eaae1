import * as z from 'zod';

/** Words for zod schemas, as what a client sends. */

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

export interface Parameter {
  name: string;
  type: string;
  /** Empty where the parameter is required. */
  absent: string;
}

/** JSON Schema of what goes into a zod schema. */
function inputOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

const grouped = (value: number): string => value.toLocaleString('en-US');

function bounds(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined && (min === undefined || min === 0)) return '';
  if (max === undefined) return ` of at least ${grouped(min ?? 0)} ${unit}`;
  return (min ?? 0) === 0
    ? ` of at most ${grouped(max)} ${unit}`
    : ` of ${grouped(min ?? 0)} to ${grouped(max)} ${unit}`;
}

function integer({ minimum, maximum }: JsonSchema): string {
  const min = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (min === undefined && max === undefined) return 'whole number';
  return max === undefined
    ? `whole number from ${grouped(min ?? 0)}`
    : `whole number, ${grouped(min ?? 0)} to ${grouped(max)}`;
}

/** One line for a schema. */
export function describe(schema: JsonSchema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(describe).join(' or ');
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  switch (schema.type) {
    case 'null':
      return 'null';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return integer(schema);
    case 'string':
      return `text${bounds(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `list${bounds(schema.minItems, schema.maxItems, 'entries')}: ${describe(schema.items ?? {})}`;
    case 'object':
      return object(schema);
    default:
      return 'any value';
  }
}

function object({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const members = Object.entries(properties).map(([name, member]) => {
    return `\`${name}${required.includes(name) ? '' : '?'}\`: ${describe(member)}`;
  });
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  return typeof additionalProperties === 'object' ? `map of names to ${describe(additionalProperties)}` : 'object';
}

/** The forms that a method's parameters may take, each as the rows of a table. */
export function parametersOf(schema: z.ZodType): Parameter[][] {
  const input = inputOf(schema);
  return (input.anyOf ?? input.oneOf ?? [input]).map(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, member]) => ({
      name,
      type: describe(member),
      absent: required.includes(name)
        ? ''
        : 'default' in member
          ? `\`${JSON.stringify(member.default)}\``
          : 'may be left out',
    })),
  );
}

/** Names of an event's payload keys, `?` behind those that may be left out, for each of its forms. */
export function keysOf(schema: z.ZodType): string[][] {
  const input = inputOf(schema);
  return (input.anyOf ?? input.oneOf ?? [input]).map(({ properties = {}, required = [] }) =>
    Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`)),
  );
}
