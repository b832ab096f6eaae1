import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { archiveThread, selectThread } from '../actions/threads.ts';
import { useStore } from '../state/store.ts';
import { journal, patchUi, ui } from '../state/stores.ts';
import { titleOf } from '../state/titles.ts';
import { formatAgo } from '../text/ago.ts';
import { Icon } from '../ui/Icon.tsx';
import type { Thread } from '../wire/types.ts';

export const ThreadRow = memo(function ThreadRow({ thread, now }: { thread: Thread; now: number }) {
  const { t, i18n } = useTranslation();
  const selected = useStore(ui, (state) => state.selected === thread.id);
  const activity = useStore(journal, (state) => state.activity[thread.id]?.status);
  const openings = useStore(journal, (state) => state.openings);
  const title = titleOf(thread, openings) ?? t('thread.untitled');
  const { workspace } = thread;
  return (
    <li className={selected ? 'thread-row selected' : 'thread-row'}>
      <a
        href={`#/t/${thread.id}`}
        aria-current={selected ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          selectThread(thread.id);
        }}
      >
        <span className="thread-title">{title}</span>
        <span className="thread-meta">
          {activity ? (
            <span className={`live live-${activity}`}>
              <span className="dot" />
              {t(activity === 'running' ? 'thread.running' : 'thread.queued')}
            </span>
          ) : (
            (formatAgo(thread.updatedAt, now, i18n.language) ?? t('time.now'))
          )}
          {workspace?.kind === 'project' && <span className="thread-folder">{workspace.name}</span>}
        </span>
      </a>
      <span className="row-actions">
        <button
          type="button"
          className="icon-button"
          aria-label={`${t('thread.rename')}: ${title}`}
          title={t('thread.rename')}
          onClick={() => patchUi({ dialog: { name: 'rename', threadId: thread.id } })}
        >
          <Icon name="pencil" size={16} />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={`${t('thread.archive')}: ${title}`}
          title={t('thread.archive')}
          onClick={() => void archiveThread(thread.id)}
        >
          <Icon name="archive" size={16} />
        </button>
      </span>
    </li>
  );
});
