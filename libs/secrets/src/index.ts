export { type RedactingStream, Redactor, redacted } from './redactor.ts';
export { formatReference, parseReference, type SecretReference } from './reference.ts';
export { deriveKey, open, parseMasterKey, type SealPlace, seal } from './seal.ts';
export { createVault, isVaultName, type Vault, type VaultStore } from './vault.ts';
