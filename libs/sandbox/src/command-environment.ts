/**
 * The only variables of the runner that a command inherits. Everything else stays behind: settings and keys of the
 * services, the address of NATS, fault points, and loader tricks such as LD_PRELOAD or NODE_OPTIONS.
 */
export const INHERITED_VARIABLES: readonly string[] = [
  'APPDATA',
  'COMSPEC',
  'HOME',
  'HOMEDRIVE',
  'HOMEPATH',
  'LANG',
  'LC_ALL',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PSMODULEPATH',
  'SHELL',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TMPDIR',
  'USER',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** Builds the whole environment of a command from the runner's own: the allow-list, and UTF-8 for Python. */
export function commandEnvironment(source: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of INHERITED_VARIABLES) {
    const value = source[name];
    if (value !== undefined) environment[name] = value;
  }
  environment.PYTHONIOENCODING = 'utf-8';
  environment.PYTHONUTF8 = '1';
  return environment;
}
