/** One thing that was looked at. */
export interface Finding {
  name: string;
  /** note: works, but a person may want to know. */
  state: 'ok' | 'note' | 'wrong';
  found: string;
  /** What to do about it. */
  todo?: string;
}

/** An error in one line, without its stack. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
