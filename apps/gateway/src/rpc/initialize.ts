import { AppError, PROTOCOL_VERSIONS, rpcParams, SERVER } from '@rookery/protocol';

const NEWEST = 13;

/** Settles the protocol version of a connection; PROTOCOL_UNSUPPORTED lists what is served. */
export function chooseProtocol(params: Record<string, unknown>): number {
  const checked = rpcParams.initialize.safeParse(params);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new AppError('INVALID_PARAMS', {
      details: { path: issue?.path.join('.') ?? '', issue: issue?.code ?? 'invalid' },
    });
  }
  const { protocolVersion } = checked.data;
  if (!(PROTOCOL_VERSIONS as readonly number[]).includes(protocolVersion)) {
    throw new AppError('PROTOCOL_UNSUPPORTED', { details: { served: [...PROTOCOL_VERSIONS] } });
  }
  return protocolVersion;
}

/** Result of initialize; protocol 12 has no journal id. */
export function initializeResult(protocolVersion: number, journalId: string): Record<string, unknown> {
  return { protocolVersion, server: SERVER, ...(protocolVersion >= NEWEST ? { journalId } : {}) };
}
