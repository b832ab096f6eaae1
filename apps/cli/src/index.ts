export { type CommandSpec, findCommand, type ParsedArguments, parseArguments, UsageError } from './arguments.ts';
export { type Command, commands } from './commands.ts';
