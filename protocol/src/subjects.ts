/** Subjects of the journal and of commands. They are built and parsed here only. */

const TOKEN = /^[A-Za-z0-9_-]{1,200}$/;

const token = (value: string): string => {
  if (!TOKEN.test(value)) throw new TypeError(`not a subject token: ${JSON.stringify(value.slice(0, 60))}`);
  return value;
};

/** True where a text can stand as one token of a subject. */
export function isSubjectToken(value: string): boolean {
  return TOKEN.test(value);
}

/** A subject token for any text: itself where possible, else its UTF-8 bytes in URL-safe base64 behind `b64-`. */
export function encodeToken(text: string): string {
  if (TOKEN.test(text) && !text.startsWith('b64-')) return text;
  const bytes = new TextEncoder().encode(text);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return `b64-${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** Reverses `encodeToken`. */
export function decodeToken(encoded: string): string {
  if (!encoded.startsWith('b64-')) return encoded;
  const binary = atob(encoded.slice(4).replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
}

/** A parsed subject of the JOURNAL or MEMORY stream. */
export type JournalSubject =
  | { kind: 'turns'; world: string; threadId: string }
  | { kind: 'run'; world: string; threadId: string; runId: string }
  | { kind: 'approval'; world: string; threadId: string; approvalId: string }
  | { kind: 'process'; world: string; threadId: string; processId: string }
  | { kind: 'channel'; world: string; channel: string; account: string; chat: string }
  | { kind: 'erasures'; world: string }
  | { kind: 'config' }
  | { kind: 'canary' }
  | { kind: 'memory'; world: string; agentId: string; memoryId: string }
  | { kind: 'memory-erasures'; world: string };

/** Filters that consumers of the JOURNAL and MEMORY streams use. */
export const subjectFilters = {
  journal: 'journal.>',
  memory: 'memory.>',
  turns: 'journal.*.thread.*.turns',
  threads: 'journal.*.thread.>',
  runs: 'journal.*.thread.*.run.*',
  processes: 'journal.*.thread.*.process.*',
  channels: 'journal.*.channel.>',
  config: 'journal.config',
  canary: 'journal.canary',
} as const;

/** Everything of one thread. */
export function threadFilter(world: string, threadId: string): string {
  return `journal.${token(world)}.thread.${token(threadId)}.>`;
}

/** Builds the subject of an aggregate; throws TypeError where a part is not a token. */
export function formatSubject(subject: JournalSubject): string {
  switch (subject.kind) {
    case 'turns':
      return `journal.${token(subject.world)}.thread.${token(subject.threadId)}.turns`;
    case 'run':
      return `journal.${token(subject.world)}.thread.${token(subject.threadId)}.run.${token(subject.runId)}`;
    case 'approval':
      return `journal.${token(subject.world)}.thread.${token(subject.threadId)}.approval.${token(subject.approvalId)}`;
    case 'process':
      return `journal.${token(subject.world)}.thread.${token(subject.threadId)}.process.${token(subject.processId)}`;
    case 'channel':
      return `journal.${token(subject.world)}.channel.${token(subject.channel)}.${encodeToken(subject.account)}.${encodeToken(subject.chat)}`;
    case 'erasures':
      return `journal.${token(subject.world)}.erasures`;
    case 'config':
      return subjectFilters.config;
    case 'canary':
      return subjectFilters.canary;
    case 'memory':
      return `memory.${token(subject.world)}.${token(subject.agentId)}.memory.${token(subject.memoryId)}`;
    case 'memory-erasures':
      return `memory.${token(subject.world)}.erasures`;
  }
}

/**
 * Parses a subject of the JOURNAL or MEMORY stream; null for what this version does not know or would write otherwise,
 * so that anything may stand on a foreign message.
 */
export function parseSubject(subject: string): JournalSubject | null {
  try {
    const parsed = readParts(subject);
    return parsed !== null && formatSubject(parsed) === subject ? parsed : null;
  } catch {
    return null;
  }
}

/** The parts by their places; throws where a part is not what `encodeToken` writes. */
function readParts(subject: string): JournalSubject | null {
  const [root, world, area, a, b, c, ...rest] = subject.split('.');
  if (rest.length > 0 || world === undefined) return null;
  if (root === 'memory') {
    if (area === 'erasures' && a === undefined) return { kind: 'memory-erasures', world };
    if (area && a === 'memory' && b && c === undefined) return { kind: 'memory', world, agentId: area, memoryId: b };
    return null;
  }
  if (root !== 'journal') return null;
  if (area === undefined) return world === 'config' || world === 'canary' ? { kind: world } : null;
  if (area === 'erasures') return a === undefined ? { kind: 'erasures', world } : null;
  if (area === 'channel' && a && b && c) {
    return { kind: 'channel', world, channel: a, account: decodeToken(b), chat: decodeToken(c) };
  }
  if (area !== 'thread' || !a || !b) return null;
  if (b === 'turns') return c === undefined ? { kind: 'turns', world, threadId: a } : null;
  if (!c) return null;
  if (b === 'run') return { kind: 'run', world, threadId: a, runId: c };
  if (b === 'approval') return { kind: 'approval', world, threadId: a, approvalId: c };
  if (b === 'process') return { kind: 'process', world, threadId: a, processId: c };
  return null;
}

export type CommandService = 'agent' | 'tool' | 'memory' | 'channels' | 'supervisor';

/** Subject of a command for any instance of a service, or for the one named. */
export function commandSubject(service: CommandService, method: string, instance = 'any'): string {
  return `cmd.${service}.${token(instance)}.${method}`;
}

/** Lease and presence key of an instance. */
export function instanceKey(service: string, instance: string): string {
  return `instance.${token(service)}.${token(instance)}`;
}

/** A slug for an instance name: host, slot and boot without dots. */
export function instanceName(host: string, slot: number, boot: string): string {
  const slug =
    host
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'host';
  return `${slug}-${slot}-${boot}`;
}

/** Splits an instance name into the part that survives a restart and its boot. */
export function parseInstance(instance: string): { place: string; boot: string } {
  const at = instance.lastIndexOf('-');
  return { place: instance.slice(0, at), boot: instance.slice(at + 1) };
}
