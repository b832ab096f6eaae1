import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ui } from '../state/stores.ts';
import type { Provider } from '../wire/types.ts';
import { endpointOf } from './endpoint.ts';
import { FormFoot } from './FormFoot.tsx';
import { ModelRows } from './ModelRows.tsx';
import { emptyRow, rowOf } from './model-rows.ts';
import { parseHeaders } from './parse-headers.ts';
import { useProviderForm } from './use-provider-form.ts';

/**
 * Any OpenAI-compatible endpoint. The server gives back neither address, key nor headers: a change names the address
 * again, and keeps key and headers unless they are named or removed.
 */
export function CustomForm({ provider, onDone }: { provider: Provider | null; onDone: () => void }) {
  const { t } = useTranslation();
  const [id, setId] = useState(provider?.id ?? '');
  const [name, setName] = useState(provider?.displayName ?? '');
  const [baseUrl, setBaseUrl] = useState('');
  const [key, setKey] = useState('');
  const [headerText, setHeaderText] = useState('');
  const [forget, setForget] = useState({ key: false, headers: false });
  const [saved] = useState(() =>
    ui
      .get()
      .models.filter((model) => model.providerId === provider?.id)
      .map(rowOf),
  );
  const form = useProviderForm(saved.length > 0 ? saved : [emptyRow()], onDone);

  const endpoint = () => {
    const headers = parseHeaders(forget.headers ? '' : headerText);
    if (!headers.ok) {
      form.fail(t('provider.headers_bad', { line: headers.line }));
      return null;
    }
    return endpointOf({ baseUrl, key, headers: headers.headers, forget });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const target = endpoint();
    if (!target) return;
    const providerId = id.trim().toLowerCase();
    const displayName = name.trim() || providerId;
    void form.save((models) => ({ kind: 'custom', providerId, displayName, ...target, models }));
  };
  const discover = () => {
    const target = endpoint();
    if (target) void form.discover({ kind: 'custom', ...target });
  };

  return (
    <form className="form" onSubmit={submit}>
      <div className="form-row">
        <label className="field">
          <span>{t('provider.id')}</span>
          <input
            className="mono"
            required
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}"
            readOnly={provider !== null}
            value={id}
            onChange={(event) => setId(event.target.value)}
          />
          <small>{t('provider.id_hint')}</small>
        </label>
        <label className="field">
          <span>{t('provider.name')}</span>
          <input maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
      </div>
      <label className="field">
        <span>{t('provider.base_url')}</span>
        <input
          className="mono"
          type="url"
          required
          value={baseUrl}
          onChange={(event) => setBaseUrl(event.target.value)}
        />
        <small>{t('provider.base_url_hint')}</small>
      </label>
      <label className="field">
        <span>{t('provider.key')}</span>
        <input
          type="password"
          autoComplete="off"
          disabled={forget.key}
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <small>{t(provider?.credentialConfigured ? 'provider.key_keep' : 'provider.key_hint')}</small>
      </label>
      {provider?.credentialConfigured && (
        <Check
          label={t('provider.key_forget')}
          checked={forget.key}
          onChange={(checked) => setForget({ ...forget, key: checked })}
        />
      )}
      <label className="field">
        <span>{t('provider.headers')}</span>
        <textarea
          className="mono"
          rows={2}
          spellCheck={false}
          disabled={forget.headers}
          value={headerText}
          onChange={(event) => setHeaderText(event.target.value)}
        />
        <small>{t(provider ? 'provider.headers_keep' : 'provider.headers_hint')}</small>
      </label>
      {provider && (
        <Check
          label={t('provider.headers_forget')}
          checked={forget.headers}
          onChange={(checked) => setForget({ ...forget, headers: checked })}
        />
      )}
      <ModelRows rows={form.rows} onChange={form.setRows} />
      <FormFoot busy={form.busy} note={form.note} onCancel={onDone} onDiscover={baseUrl.trim() ? discover : null} />
    </form>
  );
}

function Check(props: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className="check">
      <input type="checkbox" checked={props.checked} onChange={(event) => props.onChange(event.target.checked)} />
      {props.label}
    </label>
  );
}
