import { AppError, toAppError } from '@rookery/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { RpcConnection } from '../connection/rpc-connection.ts';
import { type RpcRequest, readRequest } from '../rpc/envelope.ts';
import { chooseProtocol, initializeResult } from '../rpc/initialize.ts';
import { errorText, resultText } from '../rpc/response.ts';
import { parseStrictJson } from '../rpc/strict-json.ts';
import type { HttpContext } from './context.ts';
import { sendError } from './error-reply.ts';
import { requireLive, requirePrincipal } from './guard.ts';

const PATHS = ['/rpc', '/rpc/v1'];
/** A stateless request speaks the newest protocol. */
const STATELESS_PROTOCOL = 13;
const UPGRADE_REQUIRED = 426;

/** JSON-RPC over a WebSocket and over POST, both on both paths. */
export function rpcRoutes(app: FastifyInstance, context: HttpContext): void {
  const accept = (socket: WebSocket, request: FastifyRequest): void => {
    const live = requireLive(context);
    const { metrics, timings } = context;
    const connection = new RpcConnection(socket, requirePrincipal(request), {
      dispatch: live.dispatch,
      hub: live.hub,
      journalId: live.journalId,
      timings,
      onEventSent: () => {
        metrics.eventsSent += 1;
      },
      onTooSlow: () => {
        metrics.slowConsumers += 1;
      },
    });
    live.registry.add(connection);
  };

  const answer = async (request: FastifyRequest, rpc: RpcRequest): Promise<string> => {
    if (rpc.method === 'initialize') {
      return resultText(rpc.id, initializeResult(chooseProtocol(rpc.params), requireLive(context).journalId()));
    }
    const live = requireLive(context);
    const outcome = await live.dispatch(rpc, {
      protocol: STATELESS_PROTOCOL,
      principal: requirePrincipal(request),
      seen: live.statelessSeen,
      announce: () => undefined,
      subscription: null,
    });
    return outcome.ok ? resultText(rpc.id, outcome.result) : errorText(rpc.id, outcome.error);
  };

  for (const url of PATHS) {
    app.route({
      method: 'GET',
      url,
      exposeHeadRoute: false,
      handler: (_request, reply) =>
        sendError(
          reply.header('upgrade', 'websocket'),
          new AppError('INVALID_REQUEST', { details: { reason: 'websocket_or_post' } }),
          UPGRADE_REQUIRED,
        ),
      wsHandler: accept,
    });
    app.route({
      method: 'POST',
      url,
      handler: async (request, reply) => {
        reply.type('application/json').header('cache-control', 'no-store');
        try {
          const read = readRequest(parseStrictJson(String(request.body ?? '')));
          if (!read.ok) return reply.code(400).send(errorText(read.id, read.error));
          try {
            return reply.send(await answer(request, read.request));
          } catch (error) {
            return reply.send(errorText(read.request.id, toAppError(error)));
          }
        } catch (error) {
          return reply.code(400).send(errorText(null, toAppError(error)));
        }
      },
    });
  }
}
