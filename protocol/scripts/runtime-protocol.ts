import {
  conversationEventTypes,
  type ErrorRow,
  errorTable,
  PROTOCOL_VERSIONS,
  rpcMethods,
  SERVER,
  WIRE_SCHEMA_VERSION,
} from '../src/index.ts';

const MEMORY_OPERATION = -32_020;

/** Tools that a model may be offered. */
const providerToolIds = [
  'read',
  'write',
  'edit',
  'glob',
  'grep',
  'list',
  'process_start',
  'process_read',
  'process_wait',
  'process_stop',
];

/** protocol/generated/runtime-protocol.json: names and versions for clients in any language. */
export function runtimeProtocol(): string {
  const memory = Object.values(errorTable as Record<string, ErrorRow>).filter((row) => row.rpc === MEMORY_OPERATION);
  const facts = {
    protocolVersion: Math.max(...PROTOCOL_VERSIONS),
    jsonrpcVersion: '2.0',
    serverName: SERVER.name,
    initializeMethod: 'initialize',
    rpcMethods,
    notificationMethods: ['event'],
    journal: { schemaVersion: WIRE_SCHEMA_VERSION, eventTypes: conversationEventTypes },
    errors: {
      memoryOperation: {
        code: MEMORY_OPERATION,
        message: 'memory operation failed',
        reasonCodes: memory.flatMap((row) => row.reason ?? []),
      },
    },
    providerToolIds,
  };
  // JSON has no comments: the script is named by the first member, on the first line.
  const [, ...rest] = JSON.stringify(facts, null, 2).split('\n');
  return ['{ "generatedBy": "protocol/scripts/generate.ts (npm run generate)",', ...rest, ''].join('\n');
}
