import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { AppError, isSubjectToken } from '@rookery/protocol';

/** The settings of a tool-runner. */
export interface RunnerSettings {
  /** ROOKERY_RUNNER: the name under which commands reach this runner. */
  readonly runnerId: string;
  /** ROOKERY_WORKSPACES_ROOT: absolute folder of managed workspaces. */
  readonly workspacesRoot: string;
  /** The folder that `~` stands for. */
  readonly userHome: string;
}

/** Reads the settings from the environment. Throws CONFIG_INVALID. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): RunnerSettings {
  const userHome = env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir();
  const runnerId = env.ROOKERY_RUNNER || 'main';
  // `any` stands for every instance of a service in subjects.
  if (!isSubjectToken(runnerId) || runnerId === 'any') {
    throw invalid('ROOKERY_RUNNER', 'must be up to 200 letters, digits, _ or -, and not "any"');
  }
  const root = env.ROOKERY_WORKSPACES_ROOT || join(userHome, 'Documents', 'Rookery');
  const workspacesRoot = root.startsWith('~/') ? join(userHome, root.slice(2)) : root;
  if (!isAbsolute(workspacesRoot)) throw invalid('ROOKERY_WORKSPACES_ROOT', 'must be an absolute path');
  return { runnerId, workspacesRoot, userHome };
}

function invalid(name: string, why: string): AppError {
  return new AppError('CONFIG_INVALID', { message: `${name} ${why}`, details: { name } });
}
