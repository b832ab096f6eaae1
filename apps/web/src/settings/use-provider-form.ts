import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { configureProvider, discoverModels } from '../actions/providers.ts';
import { errorSentence } from '../i18n/error-sentence.ts';
import type { DiscoverInput, ProviderInput } from '../wire/methods.ts';
import { type ModelRow, mergeRows, modelsOf } from './model-rows.ts';

/** What both provider forms share: model rows, discovery, saving, and what to say about them. */
export function useProviderForm(initial: ModelRow[], onDone: () => void) {
  const { t } = useTranslation();
  const [rows, setRows] = useState(initial);
  const [busy, setBusy] = useState(false);
  const [note, setNote] = useState<{ text: string; error: boolean } | null>(null);

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setNote({ text: errorSentence(error), error: true });
    }
    setBusy(false);
  };
  const fail = (text: string) => setNote({ text, error: true });

  const discover = (input: DiscoverInput) =>
    attempt(async () => {
      setNote({ text: t('provider.discovering'), error: false });
      const found = await discoverModels(input);
      setRows((now) => mergeRows(now, found));
      setNote({ text: t('provider.discovered', { count: found.length }), error: false });
    });

  const save = (build: (models: ReturnType<typeof modelsOf>) => ProviderInput) =>
    attempt(async () => {
      const models = modelsOf(rows);
      if (models.length === 0) return fail(t('provider.model_needed'));
      await configureProvider(build(models));
      onDone();
    });

  return { rows, setRows, busy, note, fail, discover, save };
}
