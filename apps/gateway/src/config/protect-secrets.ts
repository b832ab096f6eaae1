import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigView } from '@rookery/bus';
import { toAppError } from '@rookery/protocol';
import type { Redactor } from '@rookery/secrets';
import { type Logger, logError } from '@rookery/service';

const HOME_FILES = ['token', 'master.key'];

/** Protects the home's own secrets and those that the configuration names, now and after each change of it. */
export async function protectSecrets(ports: {
  home: string;
  redactor: Redactor;
  settings: ConfigView;
  protectAll: readonly (() => Promise<void>)[];
  log: Logger;
}): Promise<() => void> {
  const { home, redactor, settings, protectAll, log } = ports;
  for (const name of HOME_FILES) {
    const text = (await readFile(join(home, name), 'utf8').catch(() => '')).trim();
    if (text !== '') redactor.add(text);
  }
  const protect = async () => {
    try {
      for (const one of protectAll) await one();
    } catch (error) {
      logError(log, 'a saved secret cannot be read', toAppError(error));
    }
  };
  await protect();
  return settings.onChange((section) => {
    if (section === 'providers' || section === 'channels') void protect();
  });
}
