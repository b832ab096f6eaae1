import { expect, it } from 'vitest';
import { type CommandSpec, findCommand, integerOption, parseArguments, UsageError } from './arguments.ts';
import { commands } from './commands.ts';

const exec: CommandSpec = {
  name: 'exec',
  positional: '"prompt"',
  count: [1, 1],
  about: '',
  options: { thread: { value: 'ID', about: '' }, json: { about: '' } },
};

it('finds the longest command name', () => {
  const specs: CommandSpec[] = [
    { name: 'journal', about: '', options: {} },
    { name: 'journal check', about: '', options: {} },
  ];
  expect(findCommand(specs, ['journal', 'check', '--json'])).toEqual({ command: specs[1], rest: ['--json'] });
  expect(findCommand(specs, ['journal', 'x'])?.command).toBe(specs[0]);
  expect(findCommand(specs, ['x'])).toBeNull();
});

it('reads values in both forms, switches and the prompt', () => {
  expect(parseArguments(exec, ['--thread', 'a', '--json', 'say hi'])).toEqual({
    values: { thread: 'a' },
    switches: new Set(['json']),
    positional: ['say hi'],
  });
  expect(parseArguments(exec, ['--thread=a=b', '-']).values).toEqual({ thread: 'a=b' });
  expect(parseArguments(exec, ['--', '--json']).positional).toEqual(['--json']);
});

it.each([
  [['--nope', 'x'], 'unknown option --nope'],
  [['-j', 'x'], 'unknown option -j'],
  [['--constructor', 'x'], 'unknown option --constructor'],
  [['--thread'], '--thread needs ID'],
  [['--thread=', 'x'], '--thread needs ID'],
  [['--thread', 'a', '--thread', 'b', 'x'], '--thread was given twice'],
  [['--json=1', 'x'], '--json takes no value'],
  [[], '"prompt" is missing'],
  [['a', 'b'], 'unexpected argument "b"'],
])('refuses %j', (words, message) => {
  expect(() => parseArguments(exec, words)).toThrow(new UsageError(message));
});

it('asks for help without the arguments that are else needed', () => {
  expect(parseArguments(exec, ['-h']).switches.has('help')).toBe(true);
  expect(parseArguments(exec, ['--help']).switches.has('help')).toBe(true);
});

it('reads whole numbers only', () => {
  expect(integerOption({ after: '12' }, 'after', 0)).toBe(12);
  expect(integerOption({}, 'after', 7)).toBe(7);
  for (const text of ['-1', '1.5', '1e3', 'x', '99999999999999999999']) {
    expect(() => integerOption({ after: text }, 'after', 0)).toThrow(UsageError);
  }
});

it('has the commands that the documents promise', () => {
  expect(commands.map(({ name }) => name)).toEqual([
    'exec',
    'threads',
    'open',
    'token rotate',
    'nats init',
    'journal check',
    'journal replay',
    'journal accept-loss',
    'backup',
    'restore',
    'doctor',
  ]);
});
