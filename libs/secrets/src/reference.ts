import { AppError } from '@rookery/protocol';
import { isVaultName } from './vault.ts';

/** How configuration names a secret instead of holding it. */
export type SecretReference = { kind: 'vault'; item: string; field: string } | { kind: 'env'; name: string };

const vaultPattern = /^vault\(\s*"([^"\\]*)"\s*,\s*"([^"\\]*)"\s*\)$/;
const envPattern = /^env\(\s*"([A-Za-z_][A-Za-z0-9_]*)"\s*\)$/;

/**
 * Reads `vault("item","field")` or `env("NAME")`; undefined for a text that is no reference. A text that begins as one and
 * is not one throws CONFIG_INVALID, so that a typing error never becomes a value.
 */
export function parseReference(text: string): SecretReference | undefined {
  const trimmed = text.trim();
  if (!/^(vault|env)\s*\(/.test(trimmed)) return undefined;
  const [, item, field] = vaultPattern.exec(trimmed) ?? [];
  if (item !== undefined && field !== undefined && isVaultName(item) && isVaultName(field)) {
    return { kind: 'vault', item, field };
  }
  const [, name] = envPattern.exec(trimmed) ?? [];
  if (name !== undefined) return { kind: 'env', name };
  throw new AppError('CONFIG_INVALID', {
    message: 'A secret is named by vault("item","field") or env("NAME").',
  });
}

/** The text that parseReference reads back. */
export function formatReference(reference: SecretReference): string {
  return reference.kind === 'env' ? `env("${reference.name}")` : `vault("${reference.item}","${reference.field}")`;
}
