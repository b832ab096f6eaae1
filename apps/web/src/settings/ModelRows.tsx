import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/Icon.tsx';
import { emptyRow, type ModelRow } from './model-rows.ts';

export function ModelRows({ rows, onChange }: { rows: readonly ModelRow[]; onChange: (rows: ModelRow[]) => void }) {
  const { t } = useTranslation();
  const edit = (key: number, change: Partial<ModelRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...change } : row)));
  return (
    <fieldset className="field">
      <legend>{t('provider.models')}</legend>
      {rows.map((row) => (
        <div key={row.key} className="model-row">
          <input
            className="mono"
            aria-label={t('provider.model_id')}
            placeholder={t('provider.model_id')}
            maxLength={200}
            value={row.id}
            onChange={(event) => edit(row.key, { id: event.target.value })}
          />
          <input
            aria-label={t('provider.model_name')}
            placeholder={t('provider.model_name')}
            maxLength={200}
            value={row.displayName}
            onChange={(event) => edit(row.key, { displayName: event.target.value })}
          />
          <input
            inputMode="numeric"
            aria-label={t('provider.model_window')}
            title={t('provider.model_window')}
            value={row.contextWindow}
            onChange={(event) => edit(row.key, { contextWindow: event.target.value })}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={`${t('provider.model_remove')}: ${row.id}`}
            title={t('provider.model_remove')}
            onClick={() => onChange(rows.filter((other) => other.key !== row.key))}
          >
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
      <button type="button" className="link-button" onClick={() => onChange([...rows, emptyRow()])}>
        {t('provider.model_add')}
      </button>
    </fieldset>
  );
}
