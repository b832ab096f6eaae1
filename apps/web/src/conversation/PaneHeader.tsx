import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from '../state/store.ts';
import { journal, patchUi } from '../state/stores.ts';
import { titleOf } from '../state/titles.ts';
import { Icon } from '../ui/Icon.tsx';
import type { Model, Thread } from '../wire/types.ts';
import { ModelPicker } from './ModelPicker.tsx';

interface Props {
  thread: Thread | null;
  selected: string | null;
  model: Model | null;
}

export function PaneHeader({ thread, selected, model }: Props) {
  const { t } = useTranslation();
  const openings = useStore(journal, (state) => state.openings);
  const title = thread ? (titleOf(thread, openings) ?? t('thread.untitled')) : '';
  useEffect(() => {
    document.title = title ? `${title} · Rookery` : 'Rookery';
  }, [title]);
  return (
    <header className="pane-head">
      <button
        type="button"
        className="icon-button narrow-only"
        aria-label={t('sidebar.open')}
        onClick={() => patchUi({ drawer: true })}
      >
        <Icon name="menu" />
      </button>
      {thread ? (
        <div className="pane-title">
          <h1>
            <button
              type="button"
              className="title-button"
              title={t('thread.rename')}
              onClick={() => patchUi({ dialog: { name: 'rename', threadId: thread.id } })}
            >
              {title}
            </button>
          </h1>
          {thread.workspace && (
            <span className="pane-folder" title={thread.workspace.rootUri}>
              <Icon name="folder" size={14} />
              <bdi>{thread.workspace.rootUri}</bdi>
            </span>
          )}
        </div>
      ) : (
        <div className="pane-title" />
      )}
      <ModelPicker threadId={selected} model={model} />
    </header>
  );
}
