import { useTranslation } from 'react-i18next';

/** What a model thought before it answered, folded away. */
export function Reasoning({ text }: { text: string }) {
  const { t } = useTranslation();
  if (text.trim() === '') return null;
  return (
    <details className="reasoning">
      <summary>{t('reasoning.title')}</summary>
      <div className="reasoning-text">{text}</div>
    </details>
  );
}
