import { AppError } from '@rookery/protocol';

export interface ListedModel {
  providerId: string;
  id: string;
  enabled: boolean;
}

/** The model that was named, or the first enabled one that fits; MODEL_NOT_CONFIGURED says which there are. */
export function chooseModel(
  models: readonly ListedModel[],
  wanted: { provider?: string | undefined; model?: string | undefined },
): ListedModel {
  const fits = (model: ListedModel) =>
    (wanted.provider === undefined || model.providerId === wanted.provider) &&
    (wanted.model === undefined || model.id === wanted.model);
  const found = models.find((model) => model.enabled && fits(model));
  if (found !== undefined) return found;
  const enabled = models.filter((model) => model.enabled).map(({ providerId, id }) => `${providerId} / ${id}`);
  const known = enabled.length === 0 ? 'No model is enabled.' : `Enabled models: ${enabled.join(', ')}.`;
  const asked = [wanted.provider, wanted.model].filter((part) => part !== undefined).join(' / ');
  const message =
    asked === '' ? `${known} Add a provider on the page.` : `There is no enabled model ${asked}. ${known}`;
  throw new AppError('MODEL_NOT_CONFIGURED', { message });
}
