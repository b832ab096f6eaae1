import i18next from 'i18next';
import { Component, type ReactNode } from 'react';

/** Shows a way out instead of an empty page when rendering fails; drafts are on disk by then. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="center-page" role="alert">
        <p>{i18next.t('error.page')}</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          {i18next.t('error.reload')}
        </button>
      </div>
    );
  }
}
