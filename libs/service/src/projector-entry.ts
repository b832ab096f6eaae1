/** Where the projector's worker thread starts: its own bundle beside ours, or the source in development. */
export function projectorEntry(): URL {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return new URL('../../read-model/src/projector-worker.ts', here);
  return new URL('./projector-worker.mjs', here);
}
