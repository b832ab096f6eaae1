import type { Thread } from '@rookery/protocol';
import type { Write } from '../projection.ts';
import { type Handler, owned, type Scope } from './scope.ts';

export const created: Handler<'thread.created'> = ({ thread, branch, clientRequestId }, scope) => [
  {
    table: 'threads',
    op: 'insert',
    key: { id: scope.threadId },
    set: owned(scope, {
      title: thread.title,
      title_source: thread.title === null ? null : 'provisional',
      default_branch_id: thread.defaultBranchId,
      created_at: thread.createdAt,
      updated_at: thread.updatedAt,
      archived_at: thread.archivedAt,
      client_request_id: clientRequestId ?? null,
      params_sha256: scope.accepted?.paramsSha256 ?? null,
      workspace_json: thread.workspace === null ? null : JSON.stringify(thread.workspace),
    }),
  },
  {
    table: 'branches',
    op: 'insert',
    key: { id: branch.id },
    set: owned(scope, {
      thread_id: scope.threadId,
      created_at: branch.createdAt,
      is_default: branch.isDefault ? 1 : 0,
    }),
  },
];

const updateThread = (scope: Scope, set: Write['set'] & object): Write[] => [
  { table: 'threads', op: 'update', key: { id: scope.threadId }, set },
];

export const renamed: Handler<'thread.renamed'> = ({ thread }, scope) =>
  updateThread(scope, { title: thread.title, title_source: 'user', updated_at: thread.updatedAt });

const archiveState = ({ thread }: { thread: Thread }, scope: Scope): Write[] =>
  updateThread(scope, { archived_at: thread.archivedAt, updated_at: thread.updatedAt });

export const archived: Handler<'thread.archived'> = archiveState;
export const unarchived: Handler<'thread.unarchived'> = archiveState;

/**
 * A thread moves to the top of its list when a turn is submitted and when a run settles, at the time of that commit.
 * The later position in the journal wins, never the later clock: a client that folds events gets the same order.
 */
export function bumpThread(scope: Scope): Write {
  return { table: 'threads', op: 'update', key: { id: scope.threadId }, set: { updated_at: scope.at } };
}
