import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { renameThread } from '../actions/threads.ts';
import { journal } from '../state/stores.ts';
import { Modal } from '../ui/Modal.tsx';

export function RenameDialog({ threadId, onClose }: { threadId: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [title, setTitle] = useState(() => journal.get().threads[threadId]?.title ?? '');
  const save = (event: FormEvent) => {
    event.preventDefault();
    void renameThread(threadId, title.trim() || null);
    onClose();
  };
  return (
    <Modal title={t('thread.rename_title')} onClose={onClose}>
      <form className="form" onSubmit={save}>
        <label className="field">
          <span>{t('thread.title')}</span>
          <input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary">
            {t('save')}
          </button>
        </div>
      </form>
    </Modal>
  );
}
