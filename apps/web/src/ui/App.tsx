import { lazy, Suspense, useEffect } from 'react';
import { ConversationPane } from '../conversation/ConversationPane.tsx';
import { NewThreadDialog } from '../sidebar/NewThreadDialog.tsx';
import { RenameDialog } from '../sidebar/RenameDialog.tsx';
import { Sidebar } from '../sidebar/Sidebar.tsx';
import { useStore } from '../state/store.ts';
import { patchUi, ui } from '../state/stores.ts';
import { LockedPage } from './LockedPage.tsx';
import { StatusBanner } from './StatusBanner.tsx';
import { onShortcut } from './shortcuts.ts';
import { Toasts } from './Toasts.tsx';

const SettingsDialog = lazy(() => import('../settings/SettingsDialog.tsx'));

export function App() {
  const locked = useStore(ui, (state) => state.status === 'locked');
  const announcement = useStore(ui, (state) => state.announcement);
  useEffect(() => {
    addEventListener('keydown', onShortcut);
    return () => removeEventListener('keydown', onShortcut);
  }, []);
  if (locked) return <LockedPage />;
  return (
    <>
      <div className="shell">
        <Sidebar />
        <ConversationPane />
      </div>
      <StatusBanner />
      <Toasts />
      <Dialogs />
      <div className="visually-hidden" aria-live="polite">
        {announcement}
      </div>
    </>
  );
}

function Dialogs() {
  const dialog = useStore(ui, (state) => state.dialog);
  const close = () => patchUi({ dialog: null });
  if (dialog?.name === 'new-thread') return <NewThreadDialog onClose={close} />;
  if (dialog?.name === 'rename') return <RenameDialog threadId={dialog.threadId} onClose={close} />;
  if (dialog?.name !== 'settings') return null;
  return (
    <Suspense>
      <SettingsDialog onClose={close} />
    </Suspense>
  );
}
