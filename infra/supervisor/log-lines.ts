const warnLevel = 40;

/** Cuts a stream of text into lines; the rest waits for its end, up to 64 KiB. */
export class LineSplitter {
  #rest = '';

  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-65_536);
    return lines.filter((line) => line.trim() !== '');
  }

  flush(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest.trim() === '' ? [] : [rest];
  }
}

/**
 * What of a log line belongs on the terminal: the message of a pino line of level warn and above, and any line
 * that is not pino's (a crash before the log was there); null for the rest.
 */
export function noteworthy(line: string): string | null {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return line.slice(0, 500);
  }
  if (record === null || typeof record !== 'object') return line.slice(0, 500);
  const { level, msg, code, err } = record as { level?: unknown; msg?: unknown; code?: unknown; err?: unknown };
  if (typeof level !== 'number' || level < warnLevel) return null;
  const { message, code: inner } = (err ?? {}) as { message?: unknown; code?: unknown };
  const parts = [code ?? inner, msg, message === msg ? undefined : message];
  return parts
    .filter((part) => typeof part === 'string' && part !== '')
    .join(': ')
    .slice(0, 500);
}
