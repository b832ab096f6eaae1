import { createServer } from 'node:net';
import { AppError } from '@rookery/protocol';

export interface Listen {
  host: string;
  port: number;
}

/** Parses `host:port` of a setting (`[::1]:7420` for IPv6); CONFIG_INVALID names the setting. */
export function parseListen(value: string, setting: string): Listen {
  const match = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(value);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) {
    throw new AppError('CONFIG_INVALID', {
      message: `${setting}: "${value}" is not host:port with a port up to 65535.`,
    });
  }
  return { host: match[1].replace(/^\[|\]$/g, ''), port };
}

export function formatListen({ host, port }: Listen): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

type Probe = 'free' | 'in-use' | 'unavailable';

function probe(listen: Listen): Promise<Probe> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'EADDRINUSE' ? 'in-use' : 'unavailable'),
    );
    server.listen(listen.port, listen.host, () => server.close(() => resolve('free')));
  });
}

/**
 * Settles which port will be used: the one named, or for 0 a free one that stays the same over restarts.
 * The free one is taken from below the range that outgoing connections use, as a client that keeps
 * reconnecting to a dead local port in that range can end up connected to itself and hold the port.
 * PORT_IN_USE or CONFIG_INVALID name the setting.
 */
export async function settlePort(listen: Listen, setting: string): Promise<Listen> {
  if (listen.port !== 0) {
    const answer = await probe(listen);
    if (answer === 'free') return listen;
    const where = formatListen(listen);
    if (answer === 'in-use') {
      const message = `${setting}: ${where} is in use. Stop the program that listens there, or set ${setting}=${listen.host}:0.`;
      throw new AppError('PORT_IN_USE', { message, details: { setting, address: where } });
    }
    throw new AppError('CONFIG_INVALID', { message: `${setting}: this machine cannot listen on ${where}.` });
  }
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const candidate = { host: listen.host, port: 10_240 + Math.floor(Math.random() * 22_000) };
    const answer = await probe(candidate);
    if (answer === 'free') return candidate;
    if (answer === 'unavailable') {
      throw new AppError('CONFIG_INVALID', { message: `${setting}: this machine cannot listen on ${listen.host}.` });
    }
  }
  throw new AppError('PORT_IN_USE', { message: `${setting}: no free port was found on ${listen.host}.` });
}
