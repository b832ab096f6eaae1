// ESC sequences: CSI, OSC and other strings up to BEL or ST, and two-character ones. Then other control characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is about control characters
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is about control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Terminal output as plain text: no escape sequences, and of a line redrawn with carriage returns the last state. */
export function plainTerminalText(output: string): string {
  return output
    .replace(SEQUENCE, '')
    .replace(/\r\n/g, '\n')
    .replace(/[^\n]*\r(?=[^\n])/g, '')
    .replace(/\r/g, '')
    .replace(CONTROL, '');
}
