import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { hideToast } from '../actions/toasts.ts';
import { useStore } from '../state/store.ts';
import { type Toast, ui } from '../state/stores.ts';
import { Icon } from './Icon.tsx';

/** Short messages at the lower edge: what was done, with its undo, and what failed. */
export function Toasts() {
  const toasts = useStore(ui, (state) => state.toasts);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // As a popover it lies over an open dialog; shown again, also over one that was opened later.
    if (box.current?.matches(':popover-open')) box.current.hidePopover();
    if (toasts.length > 0) box.current?.showPopover();
  }, [toasts]);
  return (
    <div ref={box} className="toasts" popover="manual">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const { t } = useTranslation();
  const { action } = toast;
  return (
    <div className={`toast toast-${toast.tone}`} role={toast.tone === 'error' ? 'alert' : 'status'}>
      <span>{toast.text}</span>
      {action && (
        <button
          type="button"
          className="link-button"
          onClick={() => {
            hideToast(toast.id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" className="icon-button" aria-label={t('close')} onClick={() => hideToast(toast.id)}>
        <Icon name="close" size={16} />
      </button>
    </div>
  );
}
