import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { AppError, threadSuffix, type Workspace, type WorkspacePrepare, workspaceIdOf } from '@rookery/protocol';
import type { PathLocks } from '@rookery/sandbox';

/** The RFC 9562 namespace for URLs, for a home without an id. */
const URL_NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';
/** How many of the newest days are searched for the folder that an earlier try has made. */
const SEARCHED_DAYS = 31;

/** Where managed workspaces are made, and whose they are. */
export interface WorkspaceOptions {
  readonly runnerId: string;
  /** The id of the home, which tells its workspaces from those of another; null where it is not configured. */
  readonly homeId: () => string | null;
  /** Absolute folder. */
  readonly root: string;
  readonly locks: PathLocks;
  readonly now: () => Date;
}

/**
 * Gives the workspace of a thread: the existing folder that a person names, or a managed folder that is made at the
 * first try and found again by later ones. Throws WORKSPACE_INVALID.
 */
export async function prepareWorkspace(request: WorkspacePrepare, options: WorkspaceOptions): Promise<Workspace> {
  const { threadId, workspace } = request;
  if (workspace === null) return managedWorkspace(threadId, options);
  const rootUri = resolve(workspace.rootUri);
  if (!isAbsolute(workspace.rootUri) || workspace.rootUri.includes('\0') || !(await isFolder(rootUri))) {
    throw new AppError('WORKSPACE_INVALID');
  }
  const name = workspace.name?.trim() || nameOf(rootUri);
  const id = workspace.id?.trim() || idOf(options, rootUri);
  return { id, name, kind: 'project', rootUri };
}

function managedWorkspace(threadId: string, options: WorkspaceOptions): Promise<Workspace> {
  const suffix = threadSuffix(threadId);
  if (!/^[A-Za-z0-9_-]+$/.test(suffix)) throw new AppError('INVALID_PARAMS', { details: { name: 'threadId' } });
  // Two tries of one request at a time must meet the same folder.
  return options.locks.run(join(options.root, suffix), async () => {
    const rootUri = (await findFolder(options.root, suffix)) ?? (await makeFolder(options.root, suffix, options.now()));
    return { id: idOf(options, rootUri), name: nameOf(rootUri), kind: 'managed', rootUri };
  });
}

async function findFolder(root: string, suffix: string): Promise<string | null> {
  const days = (await namesIn(root))
    .filter((name) => /^\d{4}-\d{2}-\d{2}$/.test(name))
    .sort()
    .reverse();
  for (const day of days.slice(0, SEARCHED_DAYS)) {
    const found = (await namesIn(join(root, day))).find((name) => name.slice(6) === `-${suffix}`);
    if (found !== undefined) return join(root, day, found);
  }
  return null;
}

async function makeFolder(root: string, suffix: string, now: Date): Promise<string> {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  const path = join(root, day, `${time}-${suffix}`);
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new AppError('WORKSPACE_INVALID', { message: 'The managed workspace folder cannot be made.', cause });
  }
  return path;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

async function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}

function nameOf(path: string): string {
  return (basename(path) || path).slice(0, 200);
}

function idOf({ homeId, runnerId }: WorkspaceOptions, rootUri: string): string {
  return workspaceIdOf(homeId() ?? URL_NAMESPACE, `${runnerId}:${rootUri}`);
}
