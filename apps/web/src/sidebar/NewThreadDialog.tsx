import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { newRequestId } from '../actions/outgoing.ts';
import { createThread, selectThread } from '../actions/threads.ts';
import { errorSentence } from '../i18n/error-sentence.ts';
import { Modal } from '../ui/Modal.tsx';

const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/;

export function NewThreadDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [title, setTitle] = useState('');
  const [own, setOwn] = useState(true);
  const [folder, setFolder] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // One dialog makes one thread, however often its button is pressed after a lost answer.
  const request = useRef({ id: newRequestId(), sent: '' });

  const create = async (event: FormEvent) => {
    event.preventDefault();
    const path = own ? null : folder.trim();
    if (path !== null && !ABSOLUTE.test(path)) return setError(t('thread.folder_bad'));
    const wish = JSON.stringify([title.trim(), path]);
    if (request.current.sent !== '' && request.current.sent !== wish) request.current.id = newRequestId();
    request.current.sent = wish;
    setBusy(true);
    setError(null);
    try {
      const thread = await createThread(title.trim() || null, path, request.current.id);
      onClose();
      selectThread(thread.id);
    } catch (failure) {
      setError(errorSentence(failure));
      setBusy(false);
    }
  };

  return (
    <Modal title={t('sidebar.new')} onClose={onClose}>
      <form className="form" onSubmit={(event) => void create(event)}>
        <label className="field">
          <span>{t('thread.title')}</span>
          <input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <fieldset className="field">
          <legend>{t('thread.workspace')}</legend>
          <label className="choice">
            <input type="radio" name="workspace" checked={own} onChange={() => setOwn(true)} />
            <span>
              {t('thread.managed')}
              <small>{t('thread.managed_hint')}</small>
            </span>
          </label>
          <label className="choice">
            <input type="radio" name="workspace" checked={!own} onChange={() => setOwn(false)} />
            <span>
              {t('thread.folder')}
              <small>{t('thread.folder_hint')}</small>
            </span>
          </label>
          {!own && (
            <input
              className="mono"
              aria-label={t('thread.folder')}
              aria-invalid={error !== null}
              autoComplete="off"
              spellCheck={false}
              maxLength={4096}
              value={folder}
              onChange={(event) => setFolder(event.target.value)}
            />
          )}
        </fieldset>
        {error && (
          <p className="form-error" role="alert">
            {error}
          </p>
        )}
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary" disabled={busy}>
            {t('thread.create')}
          </button>
        </div>
      </form>
    </Modal>
  );
}
