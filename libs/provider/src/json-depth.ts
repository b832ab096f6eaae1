/** Follows JSON text in fragments and tells when its one outermost object or array has been closed. */
export class JsonDepth {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** True once the outermost bracket has been closed. */
  closed = false;

  push(text: string): void {
    for (const char of text) {
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (char === '\\') this.#escaped = true;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') this.#inString = true;
      else if (char === '{' || char === '[') this.#depth++;
      else if (char === '}' || char === ']') {
        this.#depth--;
        if (this.#depth === 0) this.closed = true;
      }
    }
  }
}
