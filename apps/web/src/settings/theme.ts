const STORAGE = 'rookery.theme';

export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** The chosen theme; public/theme.js applies the same key before the first paint. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORAGE);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORAGE);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(STORAGE, theme);
    document.documentElement.dataset.theme = theme;
  }
}
