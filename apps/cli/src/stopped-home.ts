import { obtainServer } from '@rookery/nats';
import { lockHome } from '@rookery/service';

/** Runs work on a home that nobody runs; HOME_LOCKED names the pid of who does. */
export async function whileStopped<T>(home: string, work: (binary: string) => Promise<T>): Promise<T> {
  const { path } = await obtainServer(process.env, (text) => process.stderr.write(`${text}\n`));
  const lock = await lockHome(home, 0);
  try {
    return await work(path);
  } finally {
    lock.release();
  }
}
