import { useTranslation } from 'react-i18next';

interface Props {
  busy: boolean;
  note: { text: string; error: boolean } | null;
  onCancel: () => void;
  /** Null while what discovery needs is missing. */
  onDiscover: (() => void) | null;
}

/** What went on, and the buttons of a provider form. */
export function FormFoot({ busy, note, onCancel, onDiscover }: Props) {
  const { t } = useTranslation();
  return (
    <>
      {note && (
        <p className={note.error ? 'form-error' : 'form-note'} role={note.error ? 'alert' : 'status'}>
          {note.text}
        </p>
      )}
      <div className="form-actions">
        <button
          type="button"
          className="button discover"
          disabled={busy || !onDiscover}
          onClick={onDiscover ?? undefined}
        >
          {t('provider.discover')}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          {t('cancel')}
        </button>
        <button type="submit" className="button primary" disabled={busy}>
          {t('save')}
        </button>
      </div>
    </>
  );
}
