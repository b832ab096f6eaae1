import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { readStored, writeStored } from '../state/browser-storage.ts';
import { en } from './en.ts';

export type Language = 'en' | 'zh-CN';
export type LanguageChoice = Language | 'auto';

const STORAGE = 'rookery.language';

/** The language for a list of wishes such as navigator.languages. */
export function languageFor(wishes: readonly string[]): Language {
  return wishes[0]?.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

export function languageChoice(): LanguageChoice {
  const stored = readStored(STORAGE);
  return stored === 'en' || stored === 'zh-CN' ? stored : 'auto';
}

/** Keeps a choice and switches to it. */
export async function chooseLanguage(choice: LanguageChoice): Promise<void> {
  writeStored(STORAGE, choice === 'auto' ? null : choice);
  await switchLanguage(choice === 'auto' ? languageFor(navigator.languages) : choice);
}

/** Prepares texts before the first render; Chinese comes in a file of its own. */
export async function setupLanguage(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    keySeparator: false,
    nsSeparator: false,
    // React escapes what it renders.
    interpolation: { escapeValue: false },
    react: { useSuspense: false, bindI18nStore: 'added' },
  });
  const choice = languageChoice();
  await switchLanguage(choice === 'auto' ? languageFor(navigator.languages) : choice);
}

async function switchLanguage(language: Language): Promise<void> {
  if (language === 'zh-CN' && !i18next.hasResourceBundle(language, 'translation')) {
    const { zhCn } = await import('./zh-cn.ts');
    i18next.addResourceBundle(language, 'translation', zhCn);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
