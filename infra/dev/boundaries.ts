// Checks the direction of dependencies between packages; `npm run check` runs it, and it prints each violation.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PackageFacts {
  name: string;
  /** Folder relative to the root, with forward slashes; '' is the root itself. */
  folder: string;
  layer: string;
  declared: ReadonlySet<string>;
}

export interface SourceFile {
  /** Path relative to the root, with forward slashes. */
  path: string;
  imports: readonly string[];
}

/** What each layer may import, besides itself where it is named. */
const allowedLayers: Record<string, readonly string[]> = {
  protocol: [],
  kernel: ['protocol'],
  lib: ['protocol', 'kernel', 'lib'],
  service: ['protocol', 'kernel', 'lib'],
  app: ['protocol', 'kernel', 'lib', 'service'],
  web: ['protocol'],
  infra: ['protocol', 'kernel', 'lib', 'service', 'app', 'infra'],
  testkit: ['protocol', 'kernel', 'lib', 'service'],
  // Root files and tests/ cross everything.
  root: ['protocol', 'kernel', 'lib', 'service', 'app', 'web', 'infra', 'testkit'],
};

/** Libraries that only these folders may import. */
const reserved: readonly { pattern: RegExp; folders: readonly string[] }[] = [
  { pattern: /^@nats-io\/nkeys$/, folders: ['libs/bus', 'libs/journal', 'infra/nats', 'libs/testkit', 'tests'] },
  { pattern: /^@nats-io\//, folders: ['libs/bus', 'libs/journal', 'libs/testkit', 'tests'] },
  { pattern: /^(kysely|better-sqlite3)$/, folders: ['libs/read-model', 'tests'] },
];

const builtins = new Set(builtinModules);

/** The names that a source imports or exports from, also those of dynamic imports. */
export function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found: string[] = [];
  const patterns = [
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^\s*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  ];
  for (const pattern of patterns) for (const match of code.matchAll(pattern)) if (match[1]) found.push(match[1]);
  return found;
}

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Tests and the configuration of tools use what the root declares for development. */
const isTest = (path: string): boolean => /\.(test|config)\.tsx?$|(^|\/)(tests|testing)\//.test(path);

function owner(packages: readonly PackageFacts[], path: string): PackageFacts | undefined {
  return packages
    .filter(({ folder }) => folder === '' || path.startsWith(`${folder}/`))
    .reduce<PackageFacts | undefined>(
      (best, each) => (best && best.folder.length >= each.folder.length ? best : each),
      undefined,
    );
}

function violation(packages: readonly PackageFacts[], file: SourceFile, specifier: string): string | null {
  const home = owner(packages, file.path);
  if (home === undefined) return 'belongs to no package';
  if (specifier.startsWith('.')) {
    const target = posix.normalize(posix.join(posix.dirname(file.path), specifier));
    return owner(packages, target) === home ? null : 'is a relative import that leaves its package';
  }
  if (specifier.startsWith('node:') || builtins.has(specifier)) {
    const pure = home.layer === 'kernel' || home.layer === 'protocol' || home.layer === 'web';
    return pure && !isTest(file.path) && !file.path.includes('/scripts/') ? 'is not allowed in a pure package' : null;
  }
  const name = packageName(specifier);
  const rule = reserved.find(({ pattern }) => pattern.test(name));
  if (rule && !rule.folders.some((folder) => file.path.startsWith(`${folder}/`))) {
    return `may be imported only by ${rule.folders.join(', ')}`;
  }
  const target = packages.find((each) => each.name === name);
  // tests/ cross everything, so they may use what any package uses.
  const usable = home.layer === 'root' ? packages : [home, ...(isTest(file.path) ? packages.slice(0, 1) : [])];
  const declared = usable.some((each) => each.declared.has(name));
  if (target === undefined) return declared ? null : 'is not declared in its package.json';
  if (target.layer === 'testkit') return isTest(file.path) || home.layer === 'testkit' ? null : 'is for tests only';
  if (isTest(file.path) || target === home) return null;
  if (!(allowedLayers[home.layer] ?? []).includes(target.layer)) {
    return `layer ${home.layer} may not import layer ${target.layer}`;
  }
  return declared || home.layer === 'root' ? null : 'is not declared in its package.json';
}

/** What a package declares and no source of it imports; tests do not count, as they use what the root declares. */
function unused(packages: readonly PackageFacts[], files: readonly SourceFile[]): string[] {
  const imported = new Map<PackageFacts, Set<string>>();
  for (const { path, imports } of files) {
    const home = owner(packages, path);
    if (home === undefined || isTest(path)) continue;
    const names = imported.get(home) ?? new Set<string>();
    for (const specifier of imports) names.add(packageName(specifier));
    imported.set(home, names);
  }
  // The root declares tools, which are run and not imported.
  return packages
    .filter(({ layer }) => layer !== 'root')
    .flatMap((each) =>
      [...each.declared]
        .filter((name) => !imported.get(each)?.has(name))
        .map((name) => `${each.folder}/package.json: ${name} is declared and not imported`),
    );
}

/** Every violation as a line of text; the first package must be the root, and `files` all sources. */
export function findViolations(packages: readonly PackageFacts[], files: readonly SourceFile[]): string[] {
  const unknown = packages
    .filter(({ layer }) => allowedLayers[layer] === undefined)
    .map(({ folder, layer }) => `${folder}/package.json: "rookery.layer" is ${JSON.stringify(layer)}`);
  const found = files.flatMap((file) =>
    file.imports.flatMap((specifier) => {
      const reason = violation(packages, file, specifier);
      return reason === null ? [] : [`${file.path}: ${specifier} ${reason}`];
    }),
  );
  return [...unknown, ...found, ...unused(packages, files)];
}

/** The layer that a package.json gives under `rookery.layer`. */
function layerOf(facts: { rookery?: { layer?: string } }): string {
  return facts.rookery?.layer ?? '';
}

function readPackages(root: string): PackageFacts[] {
  const read = (folder: string): PackageFacts => {
    const facts = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const declared = new Set(Object.keys({ ...facts.dependencies, ...facts.devDependencies }));
    return { name: facts.name, folder, layer: folder === '' ? 'root' : layerOf(facts), declared };
  };
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folders = (workspaces as string[]).flatMap((pattern) =>
    pattern.endsWith('/*')
      ? readdirSync(join(root, pattern.slice(0, -2))).map((name) => pattern.replace('*', name))
      : [pattern],
  );
  const present = folders.filter((folder) => existsSync(join(root, folder, 'package.json')));
  return ['', ...present.sort()].map(read);
}

function sourcesBelow(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist)$/.test(entry.name) ? [] : sourcesBelow(root, path);
    return /\.(ts|tsx|mts)$/.test(entry.name) ? [path] : [];
  });
}

function main(): void {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
  const packages = readPackages(root);
  const files = ['protocol', 'libs', 'apps', 'infra', 'tests']
    .flatMap((folder) => sourcesBelow(root, folder))
    .map((path) => ({ path, imports: importsOf(readFileSync(join(root, path), 'utf8')) }));
  const violations = findViolations(packages, files);
  for (const line of violations) process.stdout.write(`${line}\n`);
  process.stdout.write(`${files.length} files of ${packages.length} packages, ${violations.length} violations\n`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
