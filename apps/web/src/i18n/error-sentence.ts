import { errorTable } from '@rookery/protocol';
import i18next from 'i18next';
import { RpcError } from '../connection/rpc-error.ts';

/** What went wrong, in the page's language: our own codes from the shared table, else the server's words. */
export function errorSentence(error: unknown): string {
  if (!(error instanceof RpcError)) return i18next.t('error.unexpected');
  if (error.failure !== 'refused') return i18next.t(`error.${error.failure}`);
  const own = sentenceOfCode(error.code);
  // A provider's failure says more than its code does.
  return own === null || error.code === 'PROVIDER_FAILED' ? error.message : own;
}

/** The sentence of one of our codes, or null for a code that is none. */
export function sentenceOfCode(code: string): string | null {
  if (!Object.hasOwn(errorTable, code)) return null;
  const row = errorTable[code as keyof typeof errorTable];
  return i18next.language.startsWith('zh') ? row.zh : row.en;
}
