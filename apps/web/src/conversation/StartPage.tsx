import { useTranslation } from 'react-i18next';
import { COMPOSER_ID } from '../composer/composer-id.ts';
import { draftOf, drafts, keepDraft, NEW_THREAD } from '../state/drafts.ts';
import { Logo } from '../ui/Logo.tsx';

/** Sentences that the scripted demo answers with real tools, in both languages. */
const SAMPLES = ['sample.list', 'sample.run', 'sample.write'] as const;

/** What is there before the first message. */
export function StartPage({ demo }: { demo: boolean }) {
  const { t } = useTranslation();
  const offer = (text: string) => {
    if (draftOf(drafts.get(), NEW_THREAD).outgoing) return;
    keepDraft(NEW_THREAD, { text });
    document.getElementById(COMPOSER_ID)?.focus();
  };
  return (
    <div className="start">
      <Logo size={52} />
      <h1>{t('empty.heading')}</h1>
      <p>{t('empty.text')}</p>
      <div className="samples">
        {SAMPLES.map((key) => (
          <button key={key} type="button" className="sample" onClick={() => offer(t(key))}>
            {t(key)}
          </button>
        ))}
      </div>
      <p className={demo ? 'demo-note' : 'demo-note invisible'}>{t('model.demo_note')}</p>
    </div>
  );
}
