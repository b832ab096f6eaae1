import { type KeyboardEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { loadThreads, selectThread } from '../actions/threads.ts';
import { showError } from '../actions/toasts.ts';
import { COMPOSER_ID } from '../composer/composer-id.ts';
import { useNow } from '../hooks/use-now.ts';
import { useStore } from '../state/store.ts';
import { journal, patchUi, ui } from '../state/stores.ts';
import { listThreads } from '../state/titles.ts';
import { Icon } from '../ui/Icon.tsx';
import { FILTER_ID } from '../ui/shortcuts.ts';
import { ThreadRow } from './ThreadRow.tsx';

export function ThreadList() {
  const { t } = useTranslation();
  const threads = useStore(journal, (state) => state.threads);
  const openings = useStore(journal, (state) => state.openings);
  const loaded = useStore(ui, (state) => state.loaded);
  const cursor = useStore(ui, (state) => state.threadCursor);
  const [filter, setFilter] = useState('');
  const now = useNow(true, 30_000);
  const shown = useMemo(() => listThreads({ threads, openings }, filter), [threads, openings, filter]);

  const onFilterKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && shown[0]) {
      // The focus moves to the message field, where this key would make a new line.
      event.preventDefault();
      selectThread(shown[0].id);
    }
    if (event.key === 'Escape') {
      // Used up here: on the page it would stop the run.
      event.preventDefault();
      if (filter !== '') return setFilter('');
      patchUi({ drawer: false });
      document.getElementById(COMPOSER_ID)?.focus();
    }
  };

  return (
    <div className="threads">
      <label className="filter">
        <Icon name="search" size={16} />
        <input
          id={FILTER_ID}
          type="search"
          autoComplete="off"
          placeholder={t('sidebar.filter')}
          aria-label={t('sidebar.filter')}
          aria-keyshortcuts="Control+K Meta+K"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={onFilterKey}
        />
        <kbd>Ctrl K</kbd>
      </label>
      <nav className="thread-list" aria-label={t('sidebar.threads')}>
        <ul onKeyDown={moveFocus}>
          {shown.map((thread) => (
            <ThreadRow key={thread.id} thread={thread} now={now} />
          ))}
        </ul>
        {shown.length === 0 && (
          <p className="muted list-note">
            {!loaded ? t('loading') : filter === '' ? t('sidebar.empty') : t('sidebar.no_match')}
          </p>
        )}
        {cursor && (
          <button type="button" className="link-button" onClick={() => void loadThreads(cursor).catch(showError)}>
            {t('sidebar.more')}
          </button>
        )}
      </nav>
    </div>
  );
}

/** Arrow keys, Home and End move between the rows. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (at < 0 || to === undefined || !links[to]) return;
  event.preventDefault();
  links[to].focus();
}
