import type { ConfigView } from '@rookery/bus';
import { AppError, type RpcParams, type WebhookConfig } from '@rookery/protocol';
import type { SecretStore } from '../config/secret-store.ts';
import type { SectionWriter } from '../config/section-writer.ts';

export interface ChannelPorts {
  settings: ConfigView;
  writer: SectionWriter;
  secrets: SecretStore;
  /** The answer of the channels service to channel.list. */
  ask: () => Promise<unknown>;
}

const vaultItem = (name: string): string => `channel.${name}`;
const SECRET_FIELD = 'secret';

export interface ChannelView {
  kind: 'webhook';
  name: string;
  enabled: boolean;
  secretConfigured: boolean;
  answerUrl: string | null;
  providerId: string;
  modelId: string;
  path: string;
}

function channelView(name: string, config: WebhookConfig): ChannelView {
  const { kind, enabled, answerUrl, providerId, modelId } = config;
  return { kind, name, enabled, secretConfigured: true, answerUrl, providerId, modelId, path: `/hooks/${name}` };
}

/** The channels of this home, over the section `channels` and its vault. */
export class ChannelService {
  readonly #ports: ChannelPorts;

  constructor(ports: ChannelPorts) {
    this.#ports = ports;
  }

  async configure(params: RpcParams<'channel.configure'>) {
    const { kind, name, enabled, providerId, modelId, answerUrl } = params;
    const { channels } = this.#ports.settings.get('channels');
    const saved = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (params.secret === undefined && saved === undefined) {
      throw new AppError('INVALID_PARAMS', { details: { path: 'secret', issue: 'required' } });
    }
    const secret =
      params.secret === undefined
        ? (saved?.secret ?? '')
        : await this.#ports.secrets.put(vaultItem(name), SECRET_FIELD, params.secret);
    const answer = answerUrl === undefined ? (saved?.answerUrl ?? null) : answerUrl;
    const channel: WebhookConfig = { kind, enabled, secret, answerUrl: answer, providerId, modelId };
    await this.#ports.writer.edit('channels', (value) => ({
      value: { channels: { ...value.channels, [name]: channel } },
      keys: [`channels.${name}`],
    }));
    return { channel: channelView(name, channel) };
  }

  /** Every configured channel, with bindings and counts where the channels service answers; null where it does not. */
  async list() {
    const { channels } = this.#ports.settings.get('channels');
    const known = new Map<string, Record<string, unknown>>();
    let reached = true;
    try {
      for (const entry of entriesOf(await this.#ports.ask())) known.set(String(entry.name), entry);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      reached = false;
    }
    return {
      channels: Object.entries(channels)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, config]) => {
          const {
            bindings = [],
            openDeliveries = 0,
            refusedDeliveries = { count: 0, lastErrorCode: null },
            outbox = null,
          } = known.get(name) ?? {};
          const facts = reached
            ? { bindings, openDeliveries, refusedDeliveries, outbox }
            : { bindings: null, openDeliveries: null, refusedDeliveries: null, outbox: null };
          return { ...channelView(name, config), ...facts };
        }),
    };
  }

  /** Protects every secret that the configuration names. */
  async protectAll(): Promise<void> {
    for (const channel of Object.values(this.#ports.settings.get('channels').channels)) {
      await this.#ports.secrets.protect(channel.secret);
    }
  }
}

function entriesOf(answer: unknown): Record<string, unknown>[] {
  const list = Array.isArray(answer) ? answer : (answer as { channels?: unknown } | null)?.channels;
  return Array.isArray(list) ? list.filter((entry) => entry !== null && typeof entry === 'object') : [];
}
