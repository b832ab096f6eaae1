import {
  COMMIT_VERSION,
  conversationEventSchemas,
  type ErrorRow,
  errorTable,
  internalEventSchemas,
  limits,
  newMethods,
  PROTOCOL_VERSIONS,
  productionTimings,
  type RpcMethod,
  rpcParams,
  WIRE_SCHEMA_VERSION,
} from '../src/index.ts';
import { keysOf, parametersOf } from './describe-schema.ts';
import { GENERATED_PAGE, table } from './markdown.ts';
import { methodWords } from './method-words.ts';

function method(name: RpcMethod): string[] {
  const forms = parametersOf(rpcParams[name]);
  const since = newMethods.includes(name) ? ' Protocol 13 only.' : '';
  const tables = forms.flatMap((rows, index) => {
    if (rows.length === 0) return ['No parameters.', ''];
    const title = forms.length > 1 ? [`Form ${index + 1}:`, ''] : [];
    return [
      ...title,
      ...table(
        ['parameter', 'type', 'if absent'],
        rows.map((row) => [`\`${row.name}\``, row.type, row.absent]),
      ),
      '',
    ];
  });
  return [`### ${name}`, '', `${methodWords[name]}${since}`, '', ...tables];
}

function events(schemas: Readonly<Record<string, Parameters<typeof keysOf>[0]>>): string[] {
  const rows = Object.entries(schemas).map(([type, schema]) => {
    const forms = keysOf(schema).map((keys) => keys.map((key) => `\`${key}\``).join(', ') || 'none fixed');
    return [`\`${type}\``, forms.join('<br>or ')];
  });
  return table(['type', 'payload keys'], rows);
}

function errors(): string[] {
  const rows = Object.entries(errorTable as Record<string, ErrorRow>).map(([code, row]) => [
    `\`${code}\``,
    String(row.rpc),
    String(row.http),
    row.retry,
    row.reason === undefined ? '' : `\`${row.reason}\``,
    row.en,
    row.zh,
  ]);
  return table(['code', 'JSON-RPC', 'HTTP', 'repeat', '`reasonCode`', 'sentence', '中文'], rows);
}

const numbers = (values: Readonly<Record<string, number>>, unit: string): string[] =>
  table(
    ['name', unit],
    Object.entries(values).map(([name, value]) => [`\`${name}\``, value.toLocaleString('en-US')]),
  );

/** docs/protocol.md: methods, events, errors and limits. */
export function protocolPage(): string {
  const lines = [
    GENERATED_PAGE,
    '',
    '# The protocol',
    '',
    `JSON-RPC 2.0, protocol ${PROTOCOL_VERSIONS.join(' and ')}, over a WebSocket at \`/rpc\` or by \`POST /rpc/v1\`. Events come as`,
    `notifications named \`event\` with schema version ${WIRE_SCHEMA_VERSION}; commits of the journal have version ${COMMIT_VERSION}.`,
    '',
    '## Methods',
    '',
    'Parameters are exact: an unknown key is refused with -32602.',
    '',
    ...(Object.keys(rpcParams) as RpcMethod[]).flatMap(method),
    '## Events',
    '',
    'An event has ten keys: `seq`, `schemaVersion`, `type`, `threadId`, `branchId`, `turnId`, `runId`, `itemId`, `timestamp`, `payload`.',
    'Protocol 13 adds `prevSeq`, the seq of the event before it that fits the same filter. Those of `turnId`, `runId` and `itemId`',
    'that are not null stand in the payload too, beside these:',
    '',
    ...events(conversationEventSchemas),
    '',
    'These stay inside the journal:',
    '',
    ...events(internalEventSchemas),
    '',
    '## Errors',
    '',
    'A JSON-RPC error carries `data: { code, reasonCode?, retry, details? }`. Repeat: `safe` at any time, `after-check` once it is',
    'known whether the first try had an effect (the same `clientRequestId` sees to that), `never` unchanged.',
    '',
    ...errors(),
    '',
    '## Limits',
    '',
    ...numbers(limits, 'value'),
    '',
    '## Waits',
    '',
    ...numbers(productionTimings, 'milliseconds'),
    '',
  ];
  return lines.join('\n');
}
