import { RpcError } from '../connection/rpc-error.ts';
import { errorSentence } from '../i18n/error-sentence.ts';
import { type Toast, ui } from '../state/stores.ts';

const SHOWN_MS = 8000;
let nextId = 1;

export function showToast(toast: Omit<Toast, 'id'>): void {
  const id = nextId++;
  ui.set((state) => ({ ...state, toasts: [...state.toasts.slice(-2), { ...toast, id }] }));
  setTimeout(() => hideToast(id), SHOWN_MS);
}

export function hideToast(id: number): void {
  ui.set((state) => ({ ...state, toasts: state.toasts.filter((toast) => toast.id !== id) }));
}

export function showError(error: unknown): void {
  showToast({ text: errorSentence(error), tone: 'error' });
}

/** The stable code of a failure, for places that show it beside the sentence. */
export function codeOf(error: unknown): string {
  return error instanceof RpcError ? error.code : 'INTERNAL';
}
