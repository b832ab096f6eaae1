import { spawn } from 'node:child_process';

/**
 * Has a process killed when this one ends in any way, also by SIGKILL: a shell waits on a pipe that only this process
 * holds open. Returns the removal.
 */
export function endWithParent(pid: number): () => void {
  const watcher = spawn(
    '/bin/sh',
    ['-c', 'read -r ok; [ "$ok" = ended ] || kill -9 "$1" 2>/dev/null', 'sh', String(pid)],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  watcher.unref();
  watcher.stdin.on('error', () => {});
  return () => void watcher.stdin.end('ended\n');
}
