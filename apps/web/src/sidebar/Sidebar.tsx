import { useTranslation } from 'react-i18next';
import { selectThread } from '../actions/threads.ts';
import { useStore } from '../state/store.ts';
import { patchUi, ui } from '../state/stores.ts';
import { Icon } from '../ui/Icon.tsx';
import { Logo } from '../ui/Logo.tsx';
import { Archived } from './Archived.tsx';
import { ThreadList } from './ThreadList.tsx';

/** The left column: brand, new thread, the list, settings. On a narrow screen it is a drawer. */
export function Sidebar() {
  const { t } = useTranslation();
  const open = useStore(ui, (state) => state.drawer);
  return (
    <>
      <aside className={open ? 'sidebar open' : 'sidebar'} aria-label={t('sidebar.threads')}>
        <div className="sidebar-head">
          <button type="button" className="brand" onClick={() => selectThread(null)}>
            <Logo />
            Rookery
          </button>
          <button
            type="button"
            className="icon-button narrow-only"
            aria-label={t('sidebar.close')}
            onClick={() => patchUi({ drawer: false })}
          >
            <Icon name="close" />
          </button>
        </div>
        <button
          type="button"
          className="button new-thread"
          title="Alt+N"
          onClick={() => patchUi({ dialog: { name: 'new-thread' }, drawer: false })}
        >
          <Icon name="plus" />
          {t('sidebar.new')}
        </button>
        <ThreadList />
        <Archived />
        <button
          type="button"
          className="side-button"
          onClick={() => patchUi({ dialog: { name: 'settings' }, drawer: false })}
        >
          <Icon name="settings" />
          {t('sidebar.settings')}
        </button>
      </aside>
      {open && (
        <button
          type="button"
          className="scrim narrow-only"
          aria-label={t('sidebar.close')}
          onClick={() => patchUi({ drawer: false })}
        />
      )}
    </>
  );
}
