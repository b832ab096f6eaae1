import { patchUi, ui } from '../state/stores.ts';

export const FILTER_ID = 'thread-filter';

/** Where the thread list is a drawer; as in the style sheets. */
const NARROW = '(max-width: 760px)';

/**
 * Keys that work anywhere: Ctrl/Cmd+K filters threads, Ctrl/Cmd+N makes one. Browsers keep Ctrl+N for themselves unless
 * the page is installed as an app, so Alt+N does the same.
 */
export function onShortcut(event: KeyboardEvent): void {
  if (event.isComposing || event.defaultPrevented || ui.get().dialog) return;
  const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const alt = event.altKey && !event.ctrlKey && !event.metaKey;
  if (command && event.code === 'KeyK') {
    event.preventDefault();
    patchUi({ drawer: matchMedia(NARROW).matches });
    requestAnimationFrame(() => document.getElementById(FILTER_ID)?.focus());
  } else if ((command || alt) && event.code === 'KeyN') {
    event.preventDefault();
    patchUi({ dialog: { name: 'new-thread' } });
  } else if (event.key === 'Escape' && ui.get().drawer) {
    event.preventDefault();
    patchUi({ drawer: false });
  }
}
