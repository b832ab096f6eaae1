import type { StoredCommit } from '@rookery/protocol';
import type { Health } from './catalog.ts';

/** Whether each provider served its last request, learnt from the journal. */
export class ProviderHealth {
  readonly #last = new Map<string, Health>();

  of(providerId: string): Health {
    return this.#last.get(providerId) ?? 'unknown';
  }

  /** What was seen under another configuration says nothing about the new one. */
  forget(providerId: string): void {
    this.#last.delete(providerId);
  }

  observe(commits: readonly StoredCommit[]): void {
    for (const { commit } of commits) {
      for (const event of commit.events) {
        if (event.type !== 'model.response_finished') continue;
        const { providerId, outcome, reasonCode } = event.payload;
        if (typeof providerId !== 'string') continue;
        if (outcome === 'completed') this.#last.set(providerId, 'ready');
        // A cancelled request, or one that the house itself broke off, is no fault of the provider.
        else if (typeof reasonCode === 'string' && reasonCode.startsWith('provider_'))
          this.#last.set(providerId, 'error');
      }
    }
  }
}
