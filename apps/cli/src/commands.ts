import type { CommandSpec, ParsedArguments } from './arguments.ts';

export interface Command extends CommandSpec {
  /** Loads the command's own code only when it is run. Gives the exit code. */
  run(parsed: ParsedArguments): Promise<number>;
}

/** Every command of `rookery`. */
export const commands: readonly Command[] = [
  {
    name: 'exec',
    positional: '"prompt"',
    count: [1, 1],
    about: 'Ask an agent; its answer goes to stdout, tool calls and status to stderr.',
    options: {
      thread: { value: 'ID', about: 'go on in this thread instead of a new one' },
      provider: { value: 'P', about: 'provider to use' },
      model: { value: 'M', about: 'model to use; the first enabled one when none is named' },
      cwd: { value: 'DIR', about: 'folder that the agent works in; without it a new thread gets one of its own' },
      json: { about: 'print every event as one line of JSON instead' },
    },
    details: [
      'The prompt `-` is read from stdin.',
      'Ctrl-C stops the run; a second Ctrl-C leaves at once.',
      'Exit code: 0 completed, 1 failed, 130 cancelled.',
    ],
    run: async (parsed) => (await import('./exec.ts')).exec(parsed),
  },
  {
    name: 'threads',
    about: 'List threads, newest first.',
    options: {
      archived: { about: 'list the archived ones' },
      json: { about: 'print each thread as one line of JSON' },
    },
    run: async (parsed) => (await import('./threads.ts')).threads(parsed),
  },
  {
    name: 'open',
    about: 'Print a link that signs a browser in. Its code works once, for five minutes.',
    options: {},
    run: async () => (await import('./open.ts')).open(),
  },
  {
    name: 'token rotate',
    about: 'Replace the owner token; every session and program that uses the old one is signed out.',
    options: {},
    run: async () => (await import('./token-rotate.ts')).tokenRotate(),
  },
  {
    name: 'nats init',
    about: 'Make keys and a configuration for a nats-server of your own, and provision it.',
    options: {
      url: { value: 'URL', about: 'server to provision; ROOKERY_NATS_URL when absent' },
      listen: {
        value: 'HOST:PORT',
        about: 'address to write into the configuration (the one that is there, else 127.0.0.1:4222)',
      },
      replicas: { value: 'N', about: 'copies of each stream: 1, 3 or 5 (ROOKERY_REPLICAS, else 1)' },
    },
    details: [
      'Without a server it writes ROOKERY_HOME/nats and says how to start one; with one it makes the streams and leaves',
      'a configuration that is there as it is.',
      'Run it again after an upgrade: what is there already is verified and left alone.',
    ],
    run: async (parsed) => (await import('./nats-init.ts')).natsInit(parsed),
  },
  {
    name: 'journal check',
    about: 'Read the whole journal and say what is damaged.',
    options: { json: { about: 'print the report as JSON' } },
    details: ['Exit code: 0 all is well, 2 damaged or quarantined entries, 1 it could not be read.'],
    run: async (parsed) => (await import('./journal-check.ts')).journalCheck(parsed),
  },
  {
    name: 'journal replay',
    about: 'Print the events of the conversations, one line of JSON each.',
    options: { after: { value: 'SEQ', about: 'only events behind this one' } },
    run: async (parsed) => (await import('./journal-replay.ts')).journalReplay(parsed),
  },
  {
    name: 'journal accept-loss',
    about: 'Go on with a journal that ends earlier than it did, where no backup brings the rest back.',
    options: {
      at: { value: 'SEQ', about: 'its last sequence; without it the command only says what is lost' },
      json: { about: 'print the result as JSON' },
    },
    details: ['Rookery must be stopped. Read models are built anew at the next start and every client loads again.'],
    run: async (parsed) => (await import('./journal-accept-loss.ts')).journalAcceptLoss(parsed),
  },
  {
    name: 'backup',
    positional: 'DIR',
    count: [1, 1],
    about: 'Copy the journal, memory, long texts, settings and sealed secrets into a new folder, while Rookery runs.',
    options: { json: { about: 'print the result as JSON' } },
    details: [
      'The folder may not exist. Keep ROOKERY_HOME/master.key somewhere else: without it stored secrets cannot be opened.',
      'Workspaces, and outputs of commands in ROOKERY_HOME/artifacts, are files of their own and not in it.',
    ],
    run: async (parsed) => (await import('./backup.ts')).backup(parsed),
  },
  {
    name: 'restore',
    positional: 'DIR',
    count: [1, 1],
    about: 'Put a backup in the place of what this home holds; the old store is moved aside, not removed.',
    options: { json: { about: 'print the result as JSON' } },
    details: ['Rookery must be stopped. Read models are built anew at the next start and every client loads again.'],
    run: async (parsed) => (await import('./restore.ts')).restoreBackup(parsed),
  },
  {
    name: 'doctor',
    about: 'Look at every dependency and service: what is wrong, and what to do.',
    options: { json: { about: 'print the findings as JSON' } },
    details: ['Exit code: 0 nothing is wrong, 1 something is.'],
    run: async (parsed) => (await import('./doctor.ts')).doctor(parsed),
  },
];
