import { useTranslation } from 'react-i18next';
import { Logo } from './Logo.tsx';

/** What someone sees without a key. */
export function LockedPage() {
  const { t } = useTranslation();
  return (
    <main className="center-page">
      <div className="locked">
        <Logo size={44} />
        <h1>{t('locked.title')}</h1>
        <p>{t('locked.text')}</p>
        <pre className="command">npx rookery open</pre>
        <p className="muted">{t('locked.hint')}</p>
      </div>
    </main>
  );
}
