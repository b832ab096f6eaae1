import { limits } from '@rookery/protocol';

/** The first 160 UTF-16 units of a content, never half a surrogate pair. */
export function memoryPreview(content: string): string {
  const cut = content.slice(0, limits.memoryPreviewChars);
  const last = cut.charCodeAt(cut.length - 1);
  const split = cut.length < content.length && last >= 0xd800 && last <= 0xdbff;
  return split ? cut.slice(0, -1) : cut;
}
