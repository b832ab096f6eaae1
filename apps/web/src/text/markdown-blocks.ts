const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const DEFINITION = /^ {0,3}\[(?!\^)[^\]]+\]:\s*\S+/;

/**
 * Splits markdown into blocks that mean the same alone as together, so that a streamed answer renders only its last
 * block again. Splits at a blank line before an unindented line, outside fences, lists and raw HTML; link definitions
 * go along with every block that may use them. A text with footnotes stays whole.
 */
export function markdownBlocks(text: string): string[] {
  if (text.includes('[^') || /^ {0,3}<(?:!--|pre|script|style|textarea)/im.test(text)) return [text];
  const lines = text.split('\n');
  const blocks: string[] = [];
  const definitions: string[] = [];
  let current: string[] = [];
  let fence = '';
  for (const [index, line] of lines.entries()) {
    const opened = fence;
    fence = fenceAfter(fence, line);
    if (!opened && DEFINITION.test(line)) definitions.push(line);
    const afterBlank = index > 0 && lines[index - 1]?.trim() === '';
    if (!opened && afterBlank && startsBlock(current, line)) {
      blocks.push(current.join('\n'));
      current = [];
    }
    current.push(line);
  }
  blocks.push(current.join('\n'));
  if (definitions.length === 0) return blocks;
  const tail = `\n\n${definitions.join('\n')}`;
  // In a fence that is still open they would be lines of code.
  const last = fence === '' ? blocks.length : blocks.length - 1;
  return blocks.map((block, index) => (index < last && block.includes('[') ? block + tail : block));
}

function startsBlock(current: readonly string[], line: string): boolean {
  if (line === '' || /^\s/.test(line)) return false;
  const inList = LIST_ITEM.test(current[0] ?? '');
  return !(inList && LIST_ITEM.test(line));
}

/** The fence that is open after a line: its marker, or '' for none. */
function fenceAfter(fence: string, line: string): string {
  const match = FENCE.exec(line);
  if (!match) return fence;
  const [, marker = '', rest = ''] = match;
  if (fence === '') return marker.startsWith('`') && rest.includes('`') ? '' : marker;
  const closes = marker[0] === fence[0] && marker.length >= fence.length && rest.trim() === '';
  return closes ? '' : fence;
}
