import { patchUi } from '../state/stores.ts';
import { request } from './rpc.ts';

/** Loads providers and models; they are not on the event stream, so this runs at load and after each change. */
export async function loadCatalog(): Promise<void> {
  const [{ providers }, { models }] = await Promise.all([request('provider.list', {}), request('model.list', {})]);
  patchUi({ providers, models });
}
