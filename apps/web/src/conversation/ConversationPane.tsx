import { useTranslation } from 'react-i18next';
import { unarchiveThread } from '../actions/threads.ts';
import { Composer } from '../composer/Composer.tsx';
import type { RunState } from '../state/model.ts';
import { choices, DEMO_PROVIDER, modelFor } from '../state/model-choice.ts';
import { useStore } from '../state/store.ts';
import { journal, ui } from '../state/stores.ts';
import { Conversation } from './Conversation.tsx';
import { PaneHeader } from './PaneHeader.tsx';
import { StartPage } from './StartPage.tsx';

/** The right side: header, the conversation or the start page, composer. */
export function ConversationPane() {
  const { t } = useTranslation();
  const selected = useStore(ui, (state) => state.selected);
  const models = useStore(ui, (state) => state.models);
  const chosen = useStore(choices, (state) => state);
  const thread = useStore(journal, (state) => (selected ? state.threads[selected] : undefined));
  const conversation = useStore(journal, (state) => (selected ? state.conversations[selected] : undefined));
  const lastRun = conversation?.turns.at(-1)?.runs.at(-1);
  const model = modelFor(models, chosen, selected, lastRun ?? null);
  const active = activeRun(conversation?.turns.flatMap((turn) => turn.runs) ?? []);
  return (
    <main className="pane">
      <PaneHeader thread={thread ?? null} selected={selected} model={model} />
      {selected ? (
        <Conversation key={selected} threadId={selected} />
      ) : (
        <StartPage demo={model?.providerId === DEMO_PROVIDER} />
      )}
      {thread?.archivedAt ? (
        <div className="composer-note">
          {t('thread.is_archived')}
          <button type="button" className="button" onClick={() => void unarchiveThread(thread.id)}>
            {t('thread.unarchive')}
          </button>
        </div>
      ) : (
        <Composer
          key={`composer-${selected ?? 'new'}`}
          thread={thread ?? null}
          selected={selected}
          model={model}
          run={active}
        />
      )}
    </main>
  );
}

/** The run to steer or stop: the running one, else the first that waits. */
function activeRun(runs: readonly RunState[]): RunState | null {
  return runs.find((run) => run.status === 'running') ?? runs.find((run) => run.status === 'queued') ?? null;
}
