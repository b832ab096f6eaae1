import { useTranslation } from 'react-i18next';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import { Logo } from './Logo.tsx';

/** What someone sees without a key. */
export function LockedPage() {
  const { t } = useTranslation();
  const refused = useStore(ui, (state) => state.linkRefused);
  return (
    <main className="center-page">
      <div className="locked">
        <Logo size={44} />
        <h1>{t('locked.title')}</h1>
        {refused && (
          <p className="form-error" role="alert">
            {t('locked.refused')}
          </p>
        )}
        <p>{t('locked.text')}</p>
        <pre className="command">npx rookery open</pre>
        <p className="muted">{t('locked.hint')}</p>
      </div>
    </main>
  );
}
