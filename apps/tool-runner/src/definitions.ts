import { limits, type ToolDescription } from '@rookery/protocol';
import { flag, inputSchema, integer, optionalText, type Parameters, text } from './parameters.ts';

const filePath = text('The file: absolute, from ~, or relative to the workspace.', 1, 4096);
const folder = optionalText('The folder to look in; the workspace if left out.', 1, 4096);
const limit = integer('How many results to answer with at most.', 1000, 1, 5000);
const processId = text('The processId that process_start answered with.', 1, 128);
const cursor = integer('The byte of the output to go on from: the nextCursor of the answer before.', 0, 0);

/** The parameters of every tool by its name. */
export const toolParameters = {
  read: {
    filePath,
    offset: integer('The first line to show, counted from 1.', 1, 1),
    limit: integer('How many lines to show at most.', limits.toolReadLines, 1, limits.toolReadLines),
  },
  write: { filePath, content: text('The whole new text of the file.', 0) },
  edit: {
    filePath,
    oldString: text('The exact text to replace, without line numbers.', 1),
    newString: text('The text to put in its place.', 0),
    replaceAll: flag('Replace every occurrence instead of demanding exactly one.'),
  },
  list: { path: folder },
  glob: {
    pattern: text('A glob such as src/**/*.ts; one without a slash matches names at any depth.', 1, 1024),
    path: folder,
    limit,
  },
  grep: {
    pattern: text('A regular expression, without look-around or back references.', 1, 4096),
    path: optionalText('The file or folder to search; the workspace if left out.', 1, 4096),
    include: optionalText('A glob that file names must match, such as *.ts.', 1, 1024),
    ignoreCase: flag('Take upper and lower case for the same.'),
    limit,
  },
  process_start: {
    command: text('The command line for /bin/sh -lc. Its standard input is empty.', 1, limits.processCommandChars),
    cwd: optionalText('The folder to run in; the workspace if left out.', 1, 4096),
    background: flag('True for what should go on after the answer, such as a development server.'),
  },
  process_read: { processId, cursor },
  process_wait: {
    processId,
    cursor,
    timeoutMs: integer('How long to wait for the end, in milliseconds.', 1000, 1, 60_000),
  },
  process_stop: { processId, cursor },
} satisfies { readonly [name: string]: Parameters };

/** The name of a tool that this runner has. */
export type ToolName = keyof typeof toolParameters;

const described: { readonly [N in ToolName]: { readonly mutating: boolean; readonly description: string } } = {
  read: {
    mutating: false,
    description:
      'Show a text file with numbered lines, at most 2,000 lines or 50 KiB a call. Go on with offset = nextOffset.',
  },
  write: {
    mutating: true,
    description:
      'Make a text file or replace all of it. Missing folders are made. Byte order mark, line ends and mode of a file ' +
      'that exists are kept.',
  },
  edit: {
    mutating: true,
    description:
      'Replace an exact piece of a text file. The piece must occur once unless replaceAll is set. Line ends match ' +
      'whatever their kind, and those of the file are kept.',
  },
  list: {
    mutating: false,
    description: 'List one folder: type, size in bytes, time of change and name of each entry.',
  },
  glob: {
    mutating: false,
    description: 'Find text files by a pattern of their path. Leaves out .git, node_modules and binary files.',
  },
  grep: {
    mutating: false,
    description:
      'Search text files line by line with a regular expression; answers file:line:content. Leaves out .git, ' +
      'node_modules and binary files.',
  },
  process_start: {
    mutating: true,
    description:
      'Start a shell command and come back at once with its processId. Follow it with process_wait or process_read.',
  },
  process_read: {
    mutating: false,
    description: 'Read up to 16 KiB of the output of a command, from a cursor, without waiting.',
  },
  process_wait: {
    mutating: false,
    description: 'Wait until a command ends or the time is over, then answer with its state and output from a cursor.',
  },
  process_stop: { mutating: true, description: 'End a command and everything it started. Harmless if it has ended.' },
};

/** Tells whether this runner has a tool of that name. */
export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(toolParameters, name);
}

/** Every tool of this runner, in the order of the table above. */
export const toolDefinitions: readonly ToolDescription[] = Object.entries(toolParameters).map(([name, parameters]) => ({
  name,
  ...(isToolName(name) ? described[name] : { mutating: true, description: '' }),
  inputSchema: inputSchema(parameters),
}));

/** Tells whether a tool has effects that must not happen twice; the others run together and may run again. */
export function isMutating(name: ToolName): boolean {
  return described[name].mutating;
}
