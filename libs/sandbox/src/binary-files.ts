import { extname } from 'node:path';

/** How many bytes from the start of a file decide whether it is text. */
export const BINARY_SAMPLE_BYTES = 4096;

/** A sample with more control characters than this share is binary. */
const MAX_CONTROL_SHARE = 0.3;

const BINARY_EXTENSIONS: ReadonlySet<string> = new Set(
  (
    '.7z .a .bin .class .dat .dll .doc .docx .exe .gz .jar .lib .o .obj .odp .ods .odt .ppt .pptx .pyc .pyo .so .tar ' +
    '.war .wasm .xls .xlsx .zip .png .jpg .jpeg .gif .bmp .ico .webp .avif .heic .tif .tiff .pdf .mp3 .mp4 .m4a .m4v ' +
    '.mov .avi .mkv .webm .wav .flac .ogg .bz2 .xz .zst .rar .iso .dmg .dylib .woff .woff2 .ttf .otf .eot .db .sqlite'
  ).split(' '),
);

/** Tells whether the name alone says that a file is binary. */
export function isBinaryName(path: string): boolean {
  return BINARY_EXTENSIONS.has(extname(path).toLowerCase());
}

/** Tells whether a sample from the start of a file is binary: a NUL byte, or more than 30 % control characters. */
export function isBinarySample(sample: Uint8Array): boolean {
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    // Tab to carriage return (9 to 13) are what text is laid out with.
    if (byte < 9 || (byte > 13 && byte < 32) || byte === 127) controls += 1;
  }
  return controls > sample.length * MAX_CONTROL_SHARE;
}
