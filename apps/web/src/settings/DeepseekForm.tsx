import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ui } from '../state/stores.ts';
import { FormFoot } from './FormFoot.tsx';
import { ModelRows } from './ModelRows.tsx';
import { emptyRow, rowOf } from './model-rows.ts';
import { useProviderForm } from './use-provider-form.ts';

/** The built-in preset: only a key and models. */
export function DeepseekForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [key, setKey] = useState('');
  const [saved] = useState(() =>
    ui
      .get()
      .models.filter((model) => model.providerId === 'deepseek')
      .map(rowOf),
  );
  const form = useProviderForm(saved.length > 0 ? saved : [emptyRow()], onDone);
  const apiKey = key.trim();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.save((models) => ({ kind: 'deepseek', apiKey, models }));
  };
  return (
    <form className="form" onSubmit={submit}>
      <h4>DeepSeek</h4>
      <label className="field">
        <span>{t('provider.key')}</span>
        <input
          type="password"
          autoComplete="off"
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <small>{t('provider.key_hint')}</small>
      </label>
      <ModelRows rows={form.rows} onChange={form.setRows} />
      <FormFoot
        busy={form.busy}
        note={form.note}
        onCancel={onDone}
        onDiscover={apiKey ? () => void form.discover({ kind: 'deepseek', apiKey }) : null}
      />
    </form>
  );
}
