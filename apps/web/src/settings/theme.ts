import { readStored, writeStored } from '../state/browser-storage.ts';

const STORAGE = 'rookery.theme';

export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** The chosen theme; public/theme.js applies the same key before the first paint. */
export function chosenTheme(): Theme {
  const stored = readStored(STORAGE);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function chooseTheme(theme: Theme): void {
  writeStored(STORAGE, theme === 'system' ? null : theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
