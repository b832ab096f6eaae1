import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DEMO_PROVIDER } from '../state/model-choice.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import { Icon } from '../ui/Icon.tsx';
import type { Provider } from '../wire/types.ts';
import { CustomForm } from './CustomForm.tsx';
import { DeepseekForm } from './DeepseekForm.tsx';
import { ProviderCard } from './ProviderCard.tsx';

type Editing = { kind: 'deepseek' } | { kind: 'custom'; provider: Provider | null } | null;

/** The providers that are there, and the forms to add or change one. */
export function Providers() {
  const { t } = useTranslation();
  const providers = useStore(ui, (state) => state.providers);
  const [editing, setEditing] = useState<Editing>(null);
  const done = () => setEditing(null);
  if (editing?.kind === 'deepseek') return <DeepseekForm onDone={done} />;
  if (editing?.kind === 'custom') return <CustomForm provider={editing.provider} onDone={done} />;

  const shown = providers.filter((provider) => provider.configured);
  const own = shown.filter((provider) => provider.id !== DEMO_PROVIDER);
  return (
    <>
      {own.length === 0 && <p className="muted">{t('provider.none')}</p>}
      <ul className="provider-list">
        {shown.map((provider) => (
          <ProviderCard
            key={provider.id}
            provider={provider}
            onChange={() =>
              setEditing(provider.id === 'deepseek' ? { kind: 'deepseek' } : { kind: 'custom', provider })
            }
          />
        ))}
      </ul>
      <div className="provider-add">
        <span className="muted">{t('provider.add')}</span>
        <button type="button" className="button" onClick={() => setEditing({ kind: 'deepseek' })}>
          <Icon name="plus" size={16} />
          {t('provider.add_deepseek')}
        </button>
        <button type="button" className="button" onClick={() => setEditing({ kind: 'custom', provider: null })}>
          <Icon name="plus" size={16} />
          {t('provider.add_custom')}
        </button>
      </div>
    </>
  );
}
