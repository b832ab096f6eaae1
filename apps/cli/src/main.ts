import { AppError, SERVER } from '@rookery/protocol';
import { findCommand, parseArguments, UsageError } from './arguments.ts';
import { commands } from './commands.ts';
import { commandHelp, overview } from './help.ts';

async function run(words: readonly string[]): Promise<number> {
  const [first] = words;
  if (first === undefined || first === '--help' || first === '-h') {
    (first === undefined ? process.stderr : process.stdout).write(overview(commands));
    return first === undefined ? 1 : 0;
  }
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${SERVER.version}\n`);
    return 0;
  }
  const named = first === 'help' ? words.slice(1) : words;
  if (named.length === 0) {
    process.stdout.write(overview(commands));
    return 0;
  }
  const found = findCommand(commands, named);
  if (found === null) {
    const group = commands.filter(({ name }) => name.startsWith(`${named[0]} `));
    if (group.length > 0)
      throw new UsageError(`\`${named[0]}\` needs one of: ${group.map(({ name }) => name).join(', ')}`);
    throw new UsageError(`there is no command \`${named[0]}\``);
  }
  if (first === 'help') {
    process.stdout.write(commandHelp(found.command));
    return 0;
  }
  const parsed = parseArguments(found.command, found.rest);
  if (parsed.switches.has('help')) {
    process.stdout.write(commandHelp(found.command));
    return 0;
  }
  return await found.command.run(parsed);
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `rookery: ${error.message}. \`npx rookery help\` shows the commands.\n`;
  if (error instanceof AppError) return `rookery: ${error.message} [${error.code}]\n`;
  return `rookery: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

// A reader that went away (`rookery journal replay | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(explain(error));
  process.exitCode = 1;
}
