/** Characters in a row of a protected value that may not appear. */
export const gramChars = 8;
/** Fewer characters at the end of a stream are not held back: they tell little, and prose would stutter. */
export const heldChars = 4;

const multiplier = 31;
// multiplier ** (gramChars - 1), to take the oldest character out of a rolling hash (all arithmetic is modulo 2 ** 32).
let oldest = 1;
for (let n = 1; n < gramChars; n++) oldest = Math.imul(oldest, multiplier);

/** All runs of eight characters of the protected values, found in linear time however many values there are. */
export class GramIndex {
  readonly #grams = new Map<number, string[]>();
  readonly #prefixes = new Set<string>();

  add(value: string): void {
    for (let at = 0; at + gramChars <= value.length; at++) {
      const gram = value.slice(at, at + gramChars);
      const hash = hashOf(gram);
      const known = this.#grams.get(hash);
      if (!known) this.#grams.set(hash, [gram]);
      else if (!known.includes(gram)) known.push(gram);
      for (let size = heldChars; size < gramChars; size++) this.#prefixes.add(gram.slice(0, size));
    }
  }

  get empty(): boolean {
    return this.#grams.size === 0;
  }

  /** Start of the first run found at or after `from`, -1 where there is none. */
  find(text: string, from = 0): number {
    if (this.#grams.size === 0 || text.length - from < gramChars) return -1;
    let hash = 0;
    for (let at = from; at < text.length; at++) {
      const start = at - gramChars + 1;
      if (start > from) hash = (hash - Math.imul(text.charCodeAt(start - 1), oldest)) | 0;
      hash = (Math.imul(hash, multiplier) + text.charCodeAt(at)) | 0;
      if (start < from) continue;
      if (this.#grams.get(hash)?.includes(text.slice(start, at + 1))) return start;
    }
    return -1;
  }

  /** Ranges of the text that belong to runs, [start, end), ascending and apart from each other. */
  ranges(text: string): [number, number][] {
    const found: [number, number][] = [];
    for (let start = this.find(text); start >= 0; start = this.find(text, start + 1)) {
      const last = found.at(-1);
      if (last && start <= last[1]) last[1] = start + gramChars;
      else found.push([start, start + gramChars]);
    }
    return found;
  }

  /** Length of the longest end of the text (4 to 7 characters) with which a run may begin, else 0. */
  openEnd(text: string): number {
    for (let size = Math.min(gramChars - 1, text.length); size >= heldChars; size--) {
      if (this.#prefixes.has(text.slice(text.length - size))) return size;
    }
    return 0;
  }
}

function hashOf(gram: string): number {
  let hash = 0;
  for (let at = 0; at < gram.length; at++) hash = (Math.imul(hash, multiplier) + gram.charCodeAt(at)) | 0;
  return hash;
}
