import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { chooseLanguage, type LanguageChoice, languageChoice } from '../i18n/setup.ts';
import { chooseTheme, chosenTheme, type Theme, themes } from './theme.ts';

export function Appearance() {
  const { t } = useTranslation();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [language, setLanguage] = useState<LanguageChoice>(languageChoice);
  return (
    <div className="form-row">
      <label className="field">
        <span>{t('settings.theme')}</span>
        <select
          value={theme}
          onChange={(event) => {
            const choice = event.target.value as Theme;
            chooseTheme(choice);
            setTheme(choice);
          }}
        >
          {themes.map((one) => (
            <option key={one} value={one}>
              {t(`settings.theme_${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{t('settings.language')}</span>
        <select
          value={language}
          onChange={(event) => {
            const choice = event.target.value as LanguageChoice;
            setLanguage(choice);
            void chooseLanguage(choice);
          }}
        >
          <option value="auto">{t('settings.language_auto')}</option>
          <option value="en">English</option>
          <option value="zh-CN">简体中文</option>
        </select>
      </label>
    </div>
  );
}
