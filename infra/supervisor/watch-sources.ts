import { watch } from 'node:fs';
import { join } from 'node:path';
import type { Service } from './services.ts';

/** Rebuilds when a source changes and restarts the services whose bundle is other than before. */
export function watchSources(
  root: string,
  rebuild: (web: boolean) => Promise<string[]>,
  services: readonly Service[],
  say: (text: string) => void,
): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let web = false;
  let working = Promise.resolve();

  const apply = async (withWeb: boolean) => {
    try {
      const changed = await rebuild(withWeb);
      if (withWeb) say('rebuilt the page; reload it');
      // A projector runs inside the services that have a read model.
      const all = changed.includes('projector-worker');
      const affected = services.filter(({ supervised }) => all || changed.includes(supervised.name));
      for (const { supervised } of affected) {
        say(`${supervised.name} changed`);
        await supervised.restart(5000);
      }
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  const onChange = (folder: string) => (_event: string, name: string | null) => {
    if (name === null || /(^|\/)(node_modules|dist|dist-fault)(\/|$)|\.part$|\.test\.tsx?$/.test(name)) return;
    if (folder === 'protocol' || name.startsWith('web/')) web = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const withWeb = web;
      web = false;
      working = working.then(() => apply(withWeb));
    }, 150);
  };
  const watchers = ['protocol', 'libs', 'apps', 'infra'].map((folder) =>
    watch(join(root, folder), { recursive: true }, onChange(folder)).on('error', (error) =>
      say(`${folder} is no longer watched: ${error.message}`),
    ),
  );
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
