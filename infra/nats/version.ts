import { NATS_MINIMUM } from '@rookery/protocol';

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

/** True for 2.15 and newer. */
export function isSupported(version: NatsVersion): boolean {
  if (version.major !== NATS_MINIMUM.major) return version.major > NATS_MINIMUM.major;
  return version.minor >= NATS_MINIMUM.minor;
}

export function formatVersion(version: NatsVersion): string {
  return `${version.major}.${version.minor}.${version.patch}`;
}
