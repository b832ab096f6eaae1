import { describe, expect, it } from 'vitest';
import { distributionSource, newestSuites, parseDeb822, parseOneLine, stanzaFor } from './apt-sources.ts';

const deb822 = `# comment
Types: deb deb-src
# a comment between fields
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb-src
URIs: http://mirror.example/sources
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Components: main

Types: deb
URIs: https://vendor.example/node
Suites: nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
`;

describe('parseDeb822', () => {
  it('reads the stanzas of binary packages that are on', () => {
    const sources = parseDeb822(deb822);
    expect(sources.map(({ uris }) => uris[0])).toEqual([
      'http://mirror.example/debian',
      'http://mirror.example/debian-security',
      'https://vendor.example/node',
    ]);
    expect(sources[0]).toEqual({
      uris: ['http://mirror.example/debian'],
      suites: ['bookworm', 'bookworm-updates'],
      components: ['main', 'contrib'],
      options: { 'Signed-By': '/usr/share/keyrings/debian-archive-keyring.gpg' },
    });
  });

  it('keeps a key that stands in the stanza itself', () => {
    expect(parseDeb822(deb822)[2]?.options['Signed-By']).toContain('\n .\n abc\n');
  });
});

describe('parseOneLine', () => {
  it('reads entries with and without options', () => {
    const text = `# deb http://off.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib # mine
deb [arch=amd64 signed-by=/k/a.gpg,/k/b.gpg] https://other.example/x stable main
deb-src http://mirror.example/debian bookworm main
`;
    expect(parseOneLine(text)).toEqual([
      { uris: ['http://mirror.example/debian'], suites: ['bookworm'], components: ['main', 'contrib'], options: {} },
      {
        uris: ['https://other.example/x'],
        suites: ['stable'],
        components: ['main'],
        options: { 'Signed-By': '/k/a.gpg /k/b.gpg' },
      },
    ]);
  });
});

describe('distributionSource', () => {
  it('is the archive that serves the installed release, not a vendor or the security archive', () => {
    expect(distributionSource(parseDeb822(deb822), 'bookworm')?.uris).toEqual(['http://mirror.example/debian']);
  });

  it('also knows a machine that follows a suite by its role', () => {
    const sources = parseOneLine('deb http://m.example/debian testing main');
    expect(distributionSource(sources, 'forky')?.suites).toEqual(['testing']);
  });

  it('is null where there is none', () => {
    expect(distributionSource(parseOneLine('deb http://v.example/x nodistro main'), 'bookworm')).toBeNull();
  });
});

it('asks the same mirror for another suite with the same trust', () => {
  const [source] = parseDeb822(deb822);
  if (source === undefined) throw new Error('no source');
  expect(stanzaFor(source, 'sid', ['main'])).toBe(
    'Types: deb\nURIs: http://mirror.example/debian\nSuites: sid\nComponents: main\n' +
      'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n',
  );
});

it('knows the newest suites of Debian and Ubuntu only', () => {
  expect(newestSuites('debian')?.suites[0]).toBe('sid');
  expect(newestSuites('ubuntu')).toEqual({ suites: ['devel'], components: ['universe'] });
  expect(newestSuites('fedora')).toBeNull();
});
