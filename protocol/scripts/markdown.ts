/** First line of every page that a script writes. */
export const GENERATED_PAGE =
  '<!-- Written by protocol/scripts/generate.ts (npm run generate); edit its sources instead. -->';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Lines of a table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
