// Runs before the first paint, so that a chosen theme does not flash the other one. A file of its own because of the CSP.
try {
  const theme = localStorage.getItem('rookery.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage can be switched off; then the system's scheme holds.
}
