import { Connection } from '../connection/connection.ts';
import { exchangeCode, forgetKey, keyAccepted, storedKey } from '../connection/session-key.ts';
import { recallDrafts } from '../state/drafts.ts';
import { emptyJournal } from '../state/model.ts';
import { journal, patchUi, ui } from '../state/stores.ts';
import { loadCatalog } from './catalog.ts';
import { liveEvents } from './live-events.ts';
import { resendAll } from './outgoing.ts';
import { attachConnection } from './rpc.ts';
import { loadConversation, loadThreads, showSelected, threadInAddress } from './threads.ts';

/** Signs in with the code of the link, if there is one, connects, and follows the address. */
export async function startSession(): Promise<void> {
  recallDrafts();
  await exchangeCode();
  const connection = new Connection({
    key: storedKey,
    keyAccepted,
    status: (status) => {
      if (status === 'locked') forgetKey();
      patchUi({ status });
      if (status === 'connected') void resendAll();
    },
    apply: (events) => liveEvents.add(events),
    load: loadEverything,
  });
  attachConnection(connection);
  showSelected(threadInAddress());
  addEventListener('popstate', () => showSelected(threadInAddress()));
  connection.start();
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
