import type { CommandSpec } from './arguments.ts';

const usageOf = (command: CommandSpec): string => {
  const options = Object.entries(command.options).map(([name, { value }]) => `[--${name}${value ? ` ${value}` : ''}]`);
  return ['rookery', command.name, ...options, ...(command.positional ? [command.positional] : [])].join(' ');
};

/** Help of all commands. */
export function overview(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
  return [
    'rookery: agents of your own, from the terminal',
    '',
    ...lines,
    '',
    '`rookery help COMMAND` says more. ROOKERY_HOME (~/.rookery) names the home to talk to.',
    '',
  ].join('\n');
}

/** Help of one command. */
export function commandHelp(command: CommandSpec): string {
  const options = Object.entries(command.options);
  const width = Math.max(0, ...options.map(([name, { value }]) => name.length + (value ? value.length + 1 : 0)));
  const lines = options.map(
    ([name, { value, about }]) => `  --${`${name}${value ? ` ${value}` : ''}`.padEnd(width)}  ${about}`,
  );
  return [
    usageOf(command),
    '',
    command.about,
    ...(command.details ?? []),
    ...(lines.length > 0 ? ['', ...lines] : []),
    '',
  ].join('\n');
}
