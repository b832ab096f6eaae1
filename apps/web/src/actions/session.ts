import { Connection } from '../connection/connection.ts';
import { type CodeOutcome, exchangeCode, forgetKey, keyAccepted, storedKey } from '../connection/session-key.ts';
import { recallDrafts } from '../state/drafts.ts';
import { emptyJournal } from '../state/model.ts';
import { journal, patchUi, ui } from '../state/stores.ts';
import { loadCatalog } from './catalog.ts';
import { liveEvents } from './live-events.ts';
import { clearStored, resendAll } from './outgoing.ts';
import { attachConnection } from './rpc.ts';
import { loadConversation, loadThreads, showSelected, threadInAddress } from './threads.ts';

/** Signs in with the code of the link, if there is one, connects, and follows the address. */
export async function startSession(): Promise<void> {
  recallDrafts();
  const connection = new Connection({
    key: storedKey,
    keyAccepted,
    status: (status) => {
      if (status === 'locked') forgetKey();
      patchUi({ status });
      if (status === 'connected') resendAll();
    },
    apply: (events) => liveEvents.add(events),
    load: loadEverything,
  });
  attachConnection(connection);
  journal.subscribe(() => clearStored(journal.get()));
  await signIn();
  showSelected(threadInAddress());
  addEventListener('popstate', () => showSelected(threadInAddress()));
  // A link that is pasted into the open page changes only the fragment, which loads nothing.
  addEventListener('hashchange', () => {
    void signIn().then((code) => {
      if (code === 'accepted' && ui.get().status === 'locked') connection.start();
    });
  });
  connection.start();
}

/** Trades the code of a link, if the address has one. */
async function signIn(): Promise<CodeOutcome> {
  const code = await exchangeCode();
  if (code !== 'none') patchUi({ linkRefused: code === 'refused' });
  return code;
}

/** Drops what is known and loads the lists anew; returns the seq that they stand at. */
async function loadEverything(): Promise<number> {
  liveEvents.clear();
  journal.set(() => emptyJournal);
  patchUi({ loaded: false, archived: null, loadErrors: {} });
  const seq = await loadThreads();
  await loadCatalog();
  patchUi({ loaded: true });
  const { selected } = ui.get();
  if (selected) void loadConversation(selected);
  return seq;
}
