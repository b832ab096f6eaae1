import { AppError } from '@rookery/protocol';
import type { Redactor } from '@rookery/secrets';
import type { TokenBook } from '../auth/token-book.ts';
import type { ChannelService } from '../channels/channel-service.ts';
import type { ProviderService } from '../providers/provider-service.ts';
import type { Handlers, ServedMethod } from '../rpc/dispatcher.ts';
import type { CommandSender } from './command-sender.ts';

export interface HousePorts {
  sender: CommandSender;
  providers: ProviderService;
  channels: ChannelService;
  tokens: TokenBook;
  status: () => Promise<unknown>;
  agentId: () => string;
  redactor: Redactor;
}

type HouseMethod = Exclude<
  ServedMethod,
  `thread.${string}` | `turn.${string}` | `run.${string}` | `event.${string}` | `process.${string}`
>;

/** Providers, models, memories, channels, and the house itself. */
export function houseMethods(ports: HousePorts): Pick<Handlers, HouseMethod> {
  const { sender, providers, channels, tokens } = ports;
  const write = (clientRequestId: string) => ({ scope: ports.agentId(), clientRequestId });
  const memory = 'memory' as const;
  return {
    'provider.list': async () => providers.list(),
    'provider.configure': (params) => providers.configure(params),
    'provider.discover_models': (params) => providers.discover(params),
    'provider.disconnect': ({ providerId }) => providers.disconnect(providerId),
    'provider.remove': ({ providerId }) => providers.remove(providerId),
    'model.list': async () => providers.models(),
    'model.set_enabled': (params) => providers.setEnabled(params),
    'model.set_limits': (params) => providers.setLimits(params),
    'memory.create': (params, call) =>
      sender.send({ service: memory, method: 'memory.create', params, request: write(params.clientRequestId) }, call),
    'memory.correct': (params, call) =>
      sender.send({ service: memory, method: 'memory.correct', params, request: write(params.clientRequestId) }, call),
    'memory.list': (params) => sender.send({ service: memory, method: 'memory.list', params }, null),
    'memory.get': (params) => sender.send({ service: memory, method: 'memory.get', params }, null),
    'channel.list': () => channels.list(),
    'channel.configure': (params) => channels.configure(params),
    'runtime.shutdown': async () => {
      try {
        await sender.send(
          { service: 'supervisor', method: 'runtime.shutdown', params: {}, repeatable: false, patienceMs: 0 },
          null,
        );
      } catch (error) {
        const isNobody = error instanceof AppError && error.details.failure === 'no-responders';
        throw isNobody ? new AppError('NOT_SUPERVISED') : error;
      }
      return { accepted: true };
    },
    'auth.create_code': () => tokens.createCode(),
    'token.rotate': async () => {
      const token = await tokens.rotate();
      ports.redactor.add(token);
      return { token };
    },
    'system.status': () => ports.status(),
  };
}
