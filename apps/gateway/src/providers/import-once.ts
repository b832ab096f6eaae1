import type { ConfigView } from '@rookery/bus';
import { toAppError } from '@rookery/protocol';
import { logError, type ServiceConfig } from '@rookery/service';
import { readHomeProviders } from './import-yaml.ts';
import type { ProviderService } from './provider-service.ts';

/** Takes the providers of config.yaml over where none were ever saved; a file that is wrong is reported and left alone. */
export async function importProviders(
  { home, log }: Pick<ServiceConfig, 'home' | 'log'>,
  settings: ConfigView,
  providers: ProviderService,
): Promise<void> {
  if (settings.revision('providers') > 0) return;
  try {
    const list = await readHomeProviders(home);
    if (list.length === 0) return;
    await providers.import(list);
    log.info({ providers: list.length }, 'providers were taken over from config.yaml');
  } catch (error) {
    logError(log, 'the providers of config.yaml were not taken over', toAppError(error));
  }
}
