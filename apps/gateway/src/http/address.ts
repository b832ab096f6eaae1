import { AppError } from '@rookery/protocol';

export interface Address {
  host: string;
  port: number;
}

export const DEFAULT_HTTP = '127.0.0.1:7420';

const invalid = (name: string, why: string): AppError =>
  new AppError('CONFIG_INVALID', { message: `${name}: ${why}`, details: { name, reason: why } });

/** Reads `host:port`, `[::1]:port` for IPv6; port 0 lets the system choose. */
export function parseAddress(value: string, name: string): Address {
  const match = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(value);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) throw invalid(name, 'must be host:port with a port up to 65535');
  return { host: match[1].replace(/^\[|\]$/g, ''), port };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** A host as it stands in a Host header, without its port, in lower case; null for what is none. */
export function hostOf(header: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(header.toLowerCase());
  return match?.[1] ?? null;
}

export interface EdgeSettings {
  address: Address;
  /** TLS ends in a proxy in front of this gateway. */
  trustedProxy: boolean;
  /** Hosts that requests may name. */
  hosts: ReadonlySet<string>;
}

function switchSetting(env: NodeJS.ProcessEnv, name: string): boolean {
  const value = env[name] ?? '';
  if (value !== '' && value !== '0' && value !== '1') throw invalid(name, 'must be 0 or 1');
  return value === '1';
}

/** Reads where the gateway listens and under which names; CONFIG_INVALID names the setting and the reason. */
export function readEdgeSettings(env: NodeJS.ProcessEnv): EdgeSettings {
  const address = parseAddress(env.ROOKERY_HTTP || DEFAULT_HTTP, 'ROOKERY_HTTP');
  const trustedProxy = switchSetting(env, 'ROOKERY_TRUSTED_PROXY');
  if (!isLoopback(address.host) && !trustedProxy) {
    throw invalid(
      'ROOKERY_HTTP',
      `${address.host} is reachable from other machines, and tokens would cross the network in clear. Listen on 127.0.0.1, or put a TLS proxy in front and set ROOKERY_TRUSTED_PROXY=1`,
    );
  }
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]']);
  if (!isWildcard(address.host))
    hosts.add(address.host.includes(':') ? `[${address.host}]` : address.host.toLowerCase());
  for (const entry of (env.ROOKERY_PUBLIC_HOSTS ?? '').split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const host = hostOf(entry);
    if (host === null) throw invalid('ROOKERY_PUBLIC_HOSTS', `"${entry}" is not a host name`);
    hosts.add(host);
  }
  return { address, trustedProxy, hosts };
}
