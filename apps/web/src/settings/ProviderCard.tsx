import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { removeProvider, setModelEnabled } from '../actions/providers.ts';
import { DEMO_PROVIDER } from '../state/model-choice.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import type { Provider } from '../wire/types.ts';

export function ProviderCard({ provider, onChange }: { provider: Provider; onChange: () => void }) {
  const { t } = useTranslation();
  const models = useStore(ui, (state) => state.models);
  const [asking, setAsking] = useState(false);
  const demo = provider.id === DEMO_PROVIDER;
  return (
    <li className="provider-card">
      <div className="provider-head">
        <strong>{provider.displayName}</strong>
        {demo ? (
          <span className="tag">{t('model.scripted')}</span>
        ) : (
          <span className="tag">{t(provider.credentialConfigured ? 'provider.key_saved' : 'provider.no_key')}</span>
        )}
        {provider.health !== 'unknown' && (
          <span className={`tag tag-${provider.health}`}>
            {t(provider.health === 'ready' ? 'provider.health_ready' : 'provider.health_error')}
          </span>
        )}
        {!demo && (
          <span className="provider-actions">
            <button type="button" className="link-button" onClick={onChange}>
              {t('provider.replace')}
            </button>
            <button type="button" className="link-button danger" onClick={() => setAsking(true)}>
              {t('provider.remove')}
            </button>
          </span>
        )}
      </div>
      {demo && <p className="muted">{t('provider.demo')}</p>}
      {asking && (
        <div className="confirm" role="alert">
          <span>{t('provider.remove_confirm', { name: provider.displayName })}</span>
          <button type="button" className="button danger" onClick={() => void removeProvider(provider)}>
            {t('provider.remove_yes')}
          </button>
          <button type="button" className="button" onClick={() => setAsking(false)}>
            {t('cancel')}
          </button>
        </div>
      )}
      <ul className="model-list">
        {models
          .filter((model) => model.providerId === provider.id)
          .map((model) => (
            <li key={model.id}>
              <label>
                <input
                  type="checkbox"
                  aria-label={t('provider.model_enabled', { name: model.displayName })}
                  checked={model.enabled}
                  onChange={(event) => void setModelEnabled(model, event.target.checked)}
                />
                <span>{model.displayName}</span>
                <code>{model.id}</code>
                <span className="muted">{model.contextWindow.toLocaleString()}</span>
              </label>
            </li>
          ))}
      </ul>
    </li>
  );
}
