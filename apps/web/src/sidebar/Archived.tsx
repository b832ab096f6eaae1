import { useTranslation } from 'react-i18next';
import { loadArchived, selectThread, unarchiveThread } from '../actions/threads.ts';
import { useStore } from '../state/store.ts';
import { patchUi, ui } from '../state/stores.ts';
import { Icon } from '../ui/Icon.tsx';

/** Archived threads, loaded when asked for. */
export function Archived() {
  const { t } = useTranslation();
  const archived = useStore(ui, (state) => state.archived);
  const cursor = useStore(ui, (state) => state.archivedCursor);
  return (
    <div className="archived">
      <button
        type="button"
        className="side-button"
        aria-expanded={archived !== null}
        onClick={() => (archived ? patchUi({ archived: null }) : void loadArchived())}
      >
        <Icon name="archive" />
        {t('sidebar.archived')}
      </button>
      {archived && (
        <ul className="archived-list">
          {archived.length === 0 && <li className="muted list-note">{t('sidebar.archived_empty')}</li>}
          {archived.map((thread) => (
            <li key={thread.id} className="thread-row">
              <a
                href={`#/t/${thread.id}`}
                onClick={(event) => {
                  event.preventDefault();
                  selectThread(thread.id);
                }}
              >
                <span className="thread-title">{thread.title ?? t('thread.untitled')}</span>
              </a>
              <button
                type="button"
                className="icon-button"
                aria-label={`${t('thread.unarchive')}: ${thread.title ?? t('thread.untitled')}`}
                title={t('thread.unarchive')}
                onClick={() => void unarchiveThread(thread.id)}
              >
                <Icon name="unarchive" size={16} />
              </button>
            </li>
          ))}
          {cursor && (
            <li>
              <button type="button" className="link-button" onClick={() => void loadArchived(true)}>
                {t('sidebar.more')}
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
