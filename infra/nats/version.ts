export { isSupportedServer as isSupported } from '@rookery/bus';

export interface NatsVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Reads the answer of `nats-server --version` or a Debian version; null where there is no version in it. */
export function parseVersion(text: string): NatsVersion | null {
  const match = /(?:^|[^\d.])v?(\d+)\.(\d+)\.(\d+)(?!\.?\d)/.exec(text);
  return match ? { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) } : null;
}

export function formatVersion(version: NatsVersion): string {
  return `${version.major}.${version.minor}.${version.patch}`;
}
