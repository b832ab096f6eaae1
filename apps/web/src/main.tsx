import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startSession } from './actions/session.ts';
import { setupLanguage } from './i18n/setup.ts';
import { App } from './ui/App.tsx';
import { ErrorBoundary } from './ui/ErrorBoundary.tsx';
import './styles/index.css';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root element');
await setupLanguage();
createRoot(root).render(
  <StrictMode>
    <ErrorBoundary>
      <App />
    </ErrorBoundary>
  </StrictMode>,
);
await startSession();
