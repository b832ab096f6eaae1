/** One archive that apt is configured to read, as far as another suite of the same archive needs it. */
export interface AptSource {
  uris: string[];
  suites: string[];
  components: string[];
  /** Options that say how it is trusted, under their deb822 names. */
  options: Record<string, string>;
}

/** deb822 names of the options of a one-line entry that another suite of the same archive needs too. */
const optionNames: Record<string, string> = { 'signed-by': 'Signed-By', trusted: 'Trusted' };

/** Parses a deb822 file (`*.sources`); stanzas that are off or only for source packages are left out. */
export function parseDeb822(text: string): AptSource[] {
  const stanzas = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n[ \t]*\n/);
  return stanzas.flatMap((stanza) => {
    const fields = new Map<string, string>();
    let last = '';
    for (const line of stanza.split('\n')) {
      const field = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line);
      if (field?.[1] !== undefined) {
        last = field[1].toLowerCase();
        fields.set(last, field[2] ?? '');
      } else if (/^[ \t]/.test(line) && last) {
        fields.set(last, `${fields.get(last) ?? ''}\n${line}`);
      }
    }
    const words = (name: string) => (fields.get(name) ?? '').split(/\s+/).filter(Boolean);
    if (!words('types').includes('deb') || /^(no|false|off|0)$/i.test(fields.get('enabled') ?? '')) return [];
    const options: Record<string, string> = {};
    for (const [key, name] of Object.entries(optionNames)) {
      const value = fields.get(key);
      if (value !== undefined) options[name] = value;
    }
    return [{ uris: words('uris'), suites: words('suites'), components: words('components'), options }];
  });
}

/** Parses a one-line file (`*.list`). */
export function parseOneLine(text: string): AptSource[] {
  return text.split('\n').flatMap((raw) => {
    const line = raw.replace(/#.*$/, '').trim();
    const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$/.exec(line);
    if (match?.[2] === undefined || match[3] === undefined) return [];
    const options: Record<string, string> = {};
    for (const pair of (match[1] ?? '').split(/\s+/)) {
      const at = pair.indexOf('=');
      const name = at > 0 ? optionNames[pair.slice(0, at).toLowerCase()] : undefined;
      if (name !== undefined) options[name] = pair.slice(at + 1).replaceAll(',', ' ');
    }
    const components = (match[4] ?? '').split(/\s+/).filter(Boolean);
    return [{ uris: [match[2]], suites: [match[3]], components, options }];
  });
}

/** The archive of the distribution itself: the first source that serves the installed release. */
export function distributionSource(sources: readonly AptSource[], codename: string): AptSource | null {
  const names = [codename, 'stable', 'testing', 'unstable', 'sid', 'devel'];
  for (const name of names) {
    const source = sources.find((each) => each.suites.includes(name) && each.components.includes('main'));
    if (source) return source;
  }
  return null;
}

/** A deb822 stanza for another suite of the same archive. */
export function stanzaFor(source: AptSource, suite: string, components: readonly string[]): string {
  const options = Object.entries(source.options).map(([name, value]) => `${name}: ${value}\n`);
  const uri = source.uris[0] ?? '';
  return `Types: deb\nURIs: ${uri}\nSuites: ${suite}\nComponents: ${components.join(' ')}\n${options.join('')}`;
}

/** Suites to try, newest first, and the component that holds nats-server there. */
export function newestSuites(distribution: string): { suites: string[]; components: string[] } | null {
  if (distribution === 'debian') return { suites: ['sid', 'testing'], components: ['main'] };
  if (distribution === 'ubuntu') return { suites: ['devel'], components: ['universe'] };
  return null;
}
