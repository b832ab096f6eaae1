/** What a person typed cannot be understood; the message says what is wrong. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export interface OptionSpec {
  /** Name of the option's value in help; absent for a switch. */
  value?: string;
  about: string;
}

export interface CommandSpec {
  /** Words that name the command, such as `nats init`. */
  name: string;
  /** What stands after the options in help, such as `"prompt"`. */
  positional?: string;
  /** Fewest and most positional arguments; default none. */
  count?: readonly [number, number];
  about: string;
  options: Readonly<Record<string, OptionSpec>>;
  /** More lines for `help <command>`. */
  details?: readonly string[];
}

export interface ParsedArguments {
  values: Readonly<Record<string, string>>;
  switches: ReadonlySet<string>;
  positional: readonly string[];
}

/**
 * Finds the command that the first words name; the longest name wins. Options may not stand before it.
 * Returns null where no command has that name.
 */
export function findCommand<T extends CommandSpec>(
  commands: readonly T[],
  words: readonly string[],
): { command: T; rest: readonly string[] } | null {
  let found: { command: T; rest: readonly string[] } | null = null;
  for (const command of commands) {
    const name = command.name.split(' ');
    if (name.length > words.length || name.some((word, index) => words[index] !== word)) continue;
    if (found === null || name.length > found.command.name.split(' ').length) {
      found = { command, rest: words.slice(name.length) };
    }
  }
  return found;
}

/** Parses `--name value`, `--name=value`, switches and the rest; everything after `--` is positional. */
export function parseArguments(command: CommandSpec, words: readonly string[]): ParsedArguments {
  const values: Record<string, string> = {};
  const switches = new Set<string>();
  const positional: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--') {
      positional.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positional.push(word);
      continue;
    }
    const [flag = '', ...parts] = word.split('=');
    const inline = parts.length > 0 ? parts.join('=') : undefined;
    const name = flag === '-h' ? 'help' : flag.replace(/^--/, '');
    if (name === 'help') {
      switches.add('help');
      continue;
    }
    const spec = flag.startsWith('--') && Object.hasOwn(command.options, name) ? command.options[name] : undefined;
    if (spec === undefined) throw new UsageError(`unknown option ${flag}`);
    if (spec.value === undefined) {
      if (inline !== undefined) throw new UsageError(`${flag} takes no value`);
      switches.add(name);
      continue;
    }
    const value = inline ?? words[at + 1];
    if (value === undefined || value === '') throw new UsageError(`${flag} needs ${spec.value}`);
    if (Object.hasOwn(values, name)) throw new UsageError(`${flag} was given twice`);
    values[name] = value;
    if (inline === undefined) at += 1;
  }
  const [fewest, most] = command.count ?? [0, 0];
  if (!switches.has('help')) {
    if (positional.length < fewest) throw new UsageError(`${command.positional ?? 'an argument'} is missing`);
    if (positional.length > most) throw new UsageError(`unexpected argument ${JSON.stringify(positional[most])}`);
  }
  return { values, switches, positional };
}

/** A non-negative integer given as an option. */
export function integerOption(values: Readonly<Record<string, string>>, name: string, fallback: number): number {
  const text = values[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new UsageError(`--${name} must be a whole number`);
  return value;
}
