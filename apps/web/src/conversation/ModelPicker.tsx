import { useTranslation } from 'react-i18next';
import { chooseModel } from '../state/model-choice.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import type { Model } from '../wire/types.ts';

/** Which model the next message goes to. */
export function ModelPicker({ threadId, model }: { threadId: string | null; model: Model | null }) {
  const { t } = useTranslation();
  const models = useStore(ui, (state) => state.models);
  const providers = useStore(ui, (state) => state.providers);
  const enabled = models.filter((one) => one.enabled);
  const groups = [...new Set(enabled.map((one) => one.providerId))];
  const nameOf = (id: string) => providers.find((one) => one.id === id)?.displayName ?? id;
  if (enabled.length === 0) return <span className="muted picker-none">{t('model.none')}</span>;
  return (
    <select
      className="picker"
      aria-label={t('model.label')}
      value={model ? JSON.stringify([model.providerId, model.id]) : ''}
      onChange={(event) => {
        const [providerId, modelId] = JSON.parse(event.target.value) as [string, string];
        chooseModel(threadId, { providerId, modelId });
      }}
    >
      {groups.map((providerId) => (
        <optgroup key={providerId} label={nameOf(providerId)}>
          {enabled
            .filter((one) => one.providerId === providerId)
            .map((one) => (
              <option key={one.id} value={JSON.stringify([one.providerId, one.id])}>
                {one.displayName}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
