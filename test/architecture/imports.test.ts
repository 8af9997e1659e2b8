/**
 * The house, as a test: which room may import which, and the few rules about
 * files that a reader should be able to rely on. DESIGN.md gives the order;
 * this is where it is kept.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_CODES } from '../../src/util/errors.ts';
import { VERSION } from '../../src/util/version.ts';

const root = resolve(import.meta.dirname, '../..');
const LINES_MAX = 400;
/** One list, however long, is one thought. */
const LISTS: readonly string[] = ['util/limits.ts', 'util/errors.ts'];

/** What each room may import besides itself. A new room is added here first. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  util: [],
  crypto: ['util'],
  files: ['util'],
  // The settings that switch projections on stand with the projections.
  config: ['util', 'files', 'projections'],
  engine: ['util', 'files'],
  ledgers: ['util', 'crypto'],
  proofs: ['util', 'crypto', 'ledgers'],
  projections: ['util', 'crypto', 'engine', 'ledgers', 'proofs'],
  state: ['util', 'engine', 'ledgers', 'projections'],
  query: ['util', 'crypto', 'engine', 'ledgers', 'proofs', 'projections', 'state'],
  events: ['util', 'engine', 'ledgers', 'projections', 'state', 'query'],
  snapshot: ['util', 'files', 'engine', 'ledgers', 'proofs', 'projections', 'state', 'query', 'families', 'store'],
  sources: ['util', 'crypto', 'files', 'ledgers', 'state'],
  chains: ['util', 'crypto', 'files', 'ledgers', 'proofs', 'sources'],
  families: ['util', 'engine', 'ledgers', 'proofs', 'query', 'sources', 'chains', 'wallet'],
  store: [
    'util',
    'files',
    'config',
    'engine',
    'ledgers',
    'projections',
    'state',
    'query',
    'sources',
    'families',
    'snapshot',
    'events',
    'txstore',
  ],
  /** What stores in SQL databases share. */
  sql: ['util'],
  wallet: ['util', 'crypto', 'sql', 'ledgers', 'projections', 'query', 'events'],
  txstore: ['util', 'crypto', 'sql', 'engine', 'ledgers', 'projections'],
  publish: ['util', 'config', 'sql', 'engine', 'ledgers', 'projections', 'state', 'query', 'events', 'families', 'store', 'txstore'],
  evaluation: ['util', 'ledgers', 'query'],
  server: [
    'util',
    'crypto',
    'files',
    'config',
    'engine',
    'ledgers',
    'proofs',
    'projections',
    'state',
    'query',
    'events',
    'sources',
    'families',
    'store',
    'wallet',
    'txstore',
    'publish',
    'evaluation',
  ],
  cli: [
    'util',
    'crypto',
    'files',
    'config',
    'engine',
    'ledgers',
    'proofs',
    'projections',
    'state',
    'query',
    'snapshot',
    'sources',
    'chains',
    'families',
    'store',
    'wallet',
    'txstore',
    'publish',
    'server',
    'top',
  ],
  /** What programs hold: a store without its engine and its fold. */
  library: [
    'util',
    'engine',
    'ledgers',
    'proofs',
    'projections',
    'state',
    'query',
    'sources',
    'chains',
    'families',
    'events',
    'store',
    'wallet',
    'server',
  ],
  /** The suites that engines and projections pass, ours and others'. */
  testing: ['util', 'engine', 'ledgers', 'projections', 'state', 'chains', 'families'],
  /** src/*.ts: the doors of the package, which only pass on. */
  top: [
    'util',
    'config',
    'engine',
    'ledgers',
    'proofs',
    'projections',
    'state',
    'query',
    'snapshot',
    'sources',
    'chains',
    'families',
    'events',
    'store',
    'wallet',
    'server',
    'library',
    'testing',
  ],
};

/** These run in a browser too, so nothing of Node's may be in them. */
const WITHOUT_NODE = ['util', 'crypto', 'ledgers', 'proofs', 'projections'];

/** From one room these see only the shapes of another. */
const TYPES_ONLY: readonly (readonly [from: string, to: string])[] = [
  ['projections', 'engine'],
  ['server', 'sources'],
];

/** The one file of a room that may reach into another. */
const ONLY_FROM: readonly (readonly [room: string, to: string, file: string])[] = [['sources', 'state', 'sources/follow.ts']];

/** What a room may take from another besides types, file by file. */
const VALUES_ONLY_FROM: readonly (readonly [from: string, to: string, files: readonly string[]])[] = [
  // The store starts a server; a server knows the store by its shape, and what both say of it.
  ['server', 'store', ['store/summary.ts', 'store/fed-record.ts', 'store/backup/list.ts', 'store/control/ask.ts']],
  // A verifier of cages reads outputs and datums. These files need nothing else of a ledger, so a browser loads no more.
  ['proofs', 'ledgers', ['ledgers/cardano/cage/datum.ts', 'ledgers/cardano/cage/deployment.ts', 'ledgers/cardano/describe.ts']],
];

/** The files of a room that the others may import; the rest is its own affair. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  // Which engine a store has is decided in engine/open.ts alone.
  engine: [
    'engine/engine.ts',
    'engine/open.ts',
    'engine/directory.ts',
    'engine/memory.ts',
    'engine/scan-range.ts',
    'engine/pinned-files.ts',
    'engine/copy-rows.ts',
  ],
};

/**
 * Folders on packages that are installed only where they are used (optional peer dependencies), and the files that load
 * them when they are asked to, and say what to install. Others see their types.
 */
const OPTIONAL: readonly {
  readonly folders: readonly string[];
  readonly loaders: readonly string[];
  readonly packages: readonly string[];
}[] = [
  {
    folders: ['wallet/bitcoin/keys/'],
    loaders: ['wallet/bitcoin/load-keys.ts'],
    packages: ['@scure/bip32', '@scure/bip39', '@scure/btc-signer'],
  },
  { folders: ['evaluation/cardano/uplc/'], loaders: ['evaluation/cardano/load-machine.ts'], packages: ['@lucid-evolution/uplc'] },
  {
    folders: ['server/cardano/utxorpc/grpc/'],
    loaders: ['server/cardano/utxorpc/load-grpc.ts'],
    packages: ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node', '@utxorpc/spec'],
  },
  { folders: ['publish/remote/postgres/'], loaders: ['publish/remote/open.ts'], packages: ['pg'] },
  {
    folders: ['publish/cassandra/', 'publish/remote/cassandra/'],
    loaders: ['publish/open.ts', 'publish/remote/open.ts'],
    packages: ['cassandra-driver'],
  },
  {
    folders: ['sql/', 'wallet/sql/', 'txstore/sql/', 'publish/postgres/'],
    loaders: ['wallet/open.ts', 'txstore/open.ts', 'publish/open.ts'],
    packages: ['kysely', 'pg'],
  },
];

/** Files of those folders that take only types from the packages: others may use them without loading anything. */
const LOAD_NOTHING: readonly string[] = ['sql/postgres-hosts.ts'];

/** Whole files are read by these without `files/`: our own assets, and files of a store that its lock guards. */
const READ_FILES: readonly string[] = [
  'chains/bitcoin/regtest/journal.ts',
  'server/docs/site.ts',
  'server/page/assets.ts',
  'server/page/browser-modules.ts',
];

/** Codes that are documented before anything raises them. */
const RESERVED_CODES: readonly string[] = [];

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const withSlashes = (path: string): string => path.split(sep).join(posix.sep);

/** Paths below src/, with forward slashes. */
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map(withSlashes)
  .sort();

const sources = new Map(files.map((file) => [file, readFileSync(join(root, 'src', file), 'utf8')]));
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  for (const [, kind, type, target] of text.matchAll(/^(import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm)) {
    assert.ok(kind);
    found.push({ file, target, typeOnly: type !== undefined });
  }
  for (const [, target] of text.matchAll(/\b(?:import|require)\(\s*'([^']+)'\s*\)/g)) found.push({ file, target, typeOnly: false });
  return found;
}

const imports = [...sources].flatMap(([file, text]) => importsOf(file, withoutComments(text)));
const packageOf = (target: string): string => target.split('/', target.startsWith('@') ? 2 : 1).join('/');
const roomOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : 'top');
/** The file an import of ours leads to, below src/; undefined for packages and Node's own. */
function leadsTo({ file, target }: Import): string | undefined {
  if (!target.startsWith('.')) return undefined;
  return withSlashes(relative(join(root, 'src'), resolve(root, 'src', dirname(file), target)));
}
const ours = imports.flatMap((entry) => {
  const to = leadsTo(entry);
  return to === undefined ? [] : [{ ...entry, to }];
});

describe('imports', () => {
  test('are found: the test itself reads them', () => {
    assert.ok(files.length > 50 && imports.length > 200, `${imports.length} imports of ${files.length} files`);
    const sample =
      "import a from './a.ts';\nimport type { B } from './b.ts';\nexport {\n  c,\n} from './c.ts';\nimport './d.ts';\nawait import('./e.ts');";
    assert.deepEqual(
      importsOf('x.ts', sample).map(({ target, typeOnly }) => [target, typeOnly]),
      [
        ['./a.ts', false],
        ['./b.ts', true],
        ['./c.ts', false],
        ['./d.ts', false],
        ['./e.ts', false],
      ],
    );
  });

  test('lead to files that exist', () => {
    for (const { file, to } of ours) assert.ok(sources.has(to), `${file} imports ${to}`);
  });

  test('ARCHITECTURE.md has every room, with what it may import', () => {
    const path = join(root, 'ARCHITECTURE.md');
    const page = readFileSync(path, 'utf8');
    const told: string[] = [];
    const wanted = page.replace(/^\| `([a-z]+)` \| ([^|]*) \|.*\|$/gm, (_row, room: string, holds: string) => {
      told.push(room);
      return `| \`${room}\` | ${holds} | ${(ROOMS[room] ?? []).filter((name) => name !== 'top').join(', ') || 'nothing'} |`;
    });
    const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    assert.deepEqual(told.toSorted(), rooms.toSorted(), 'the table of rooms has each folder of src/ once');
    if (process.env['UNSPENT_TEST_UPDATE']) writeFileSync(path, wanted);
    else assert.equal(page, wanted, 'write it again with UNSPENT_TEST_UPDATE=1');
  });

  test('every room is known', () => {
    for (const file of files) assert.ok(roomOf(file) in ROOMS, `${file}: say in this test what '${roomOf(file)}' may import`);
  });

  test('go the way the data does', () => {
    const wrong = ours.filter(({ file, to }) => {
      const [from, into] = [roomOf(file), roomOf(to)];
      return from !== into && !ROOMS[from].includes(into);
    });
    assert.deepEqual(
      wrong.map(({ file, to }) => `${file} imports ${to}`),
      [],
    );
  });

  test('some see only types', () => {
    for (const [from, into] of TYPES_ONLY) {
      for (const { file, to, typeOnly } of ours) {
        if (roomOf(file) === from && roomOf(to) === into) assert.ok(typeOnly, `${file} imports more than types from ${to}`);
      }
    }
  });

  test('some see only types but for a few files', () => {
    for (const [from, into, files] of VALUES_ONLY_FROM) {
      for (const { file, to, typeOnly } of ours) {
        if (roomOf(file) !== from || roomOf(to) !== into || files.includes(to)) continue;
        assert.ok(typeOnly, `${file} imports more than types from ${to}`);
      }
    }
  });

  test('some go through one file', () => {
    for (const [room, into, through] of ONLY_FROM) {
      for (const { file, to } of ours) {
        if (roomOf(file) === room && roomOf(to) === into) assert.equal(file, through, `${file} imports ${to}`);
      }
    }
  });

  test('some rooms are entered by their doors only', () => {
    for (const [room, doors] of Object.entries(DOORS)) {
      for (const { file, to } of ours) {
        if (roomOf(to) === room && roomOf(file) !== room) assert.ok(doors.includes(to), `${file} imports ${to}`);
      }
    }
  });

  test('engines are opened through engine/open.ts, by tests and benchmarks, too', () => {
    const inside = /^test\/(engine|support\/(damage|fault))/;
    for (const folder of ['test', 'bench']) {
      const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => withSlashes(join(folder, name)));
      for (const name of names.filter((path) => path.endsWith('.ts') && !inside.test(path))) {
        const text = withoutComments(readFileSync(join(root, name), 'utf8'));
        for (const { target } of importsOf(name, text)) assert.doesNotMatch(target, /engine\/(rocks|sqlite)/, name);
      }
    }
  });

  test('no one imports the command line', () => {
    for (const { file, to } of ours) if (roomOf(to) === 'cli') assert.equal(roomOf(file), 'cli', `${file} imports ${to}`);
  });

  test('util, ledgers and projections are free of node:*', () => {
    for (const { file, target } of imports) {
      if (WITHOUT_NODE.includes(roomOf(file))) assert.ok(!target.startsWith('node:'), `${file} imports ${target}`);
    }
  });

  test('node:http is taken without its WebSocket', () => {
    // An `import` reads every name of the module, and `WebSocket` among them loads undici: 45 ms of processor time in each process.
    for (const { file, target, typeOnly } of imports) {
      assert.ok(typeOnly || target !== 'node:http', `${file}: import its types, and take values with process.getBuiltinModule`);
    }
  });

  test('files that others may have put there are read through files/', () => {
    const reads = /\b(readFile|readFileSync|createReadStream)\b[^;]*\bfrom 'node:fs/;
    const found = files.filter((file) => reads.test(withoutComments(sources.get(file) ?? '')));
    assert.deepEqual(found, READ_FILES);
  });

  test('packages are dependencies of ours, and of the run', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    const names = Object.keys(dependencies);
    assert.ok(names.length <= 12, `${names.length} direct dependencies`);
    for (const { file, target } of imports) {
      if (target.startsWith('.') || target.startsWith('node:')) continue;
      const name = packageOf(target);
      const optional = OPTIONAL.find(({ folders }) => folders.some((folder) => file.startsWith(folder)))?.packages ?? [];
      assert.ok(names.includes(name) || optional.includes(name), `${file} imports ${target}`);
    }
  });

  test('packages that only some need are optional, and loaded when they are needed', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const { folders, loaders, packages } of OPTIONAL) {
      const isInside = (file: string): boolean => folders.some((folder) => file.startsWith(folder));
      for (const name of packages) {
        const isOptional = name in manifest.peerDependencies && manifest.peerDependenciesMeta[name].optional;
        assert.ok(isOptional && name in manifest.devDependencies, `${name} is an optional peer dependency`);
        for (const loader of loaders) assert.ok(sources.get(loader)?.includes(`'${name}'`), `${loader} tells of ${name}`);
        const isUsed = imports.some(({ file, target }) => isInside(file) && packageOf(target) === name);
        assert.ok(isUsed, `nothing in ${folders.join(', ')} imports ${name}`);
      }
      for (const { file, target, typeOnly } of imports)
        assert.ok(!LOAD_NOTHING.includes(file) || typeOnly || !packages.includes(packageOf(target)), `${file} loads ${target}`);
      for (const { file, to, typeOnly } of ours) {
        if (!isInside(to) || isInside(file) || typeOnly || LOAD_NOTHING.includes(to)) continue;
        assert.ok(loaders.includes(file), `${file} imports more than types from ${to}`);
        assert.doesNotMatch(
          sources.get(file) ?? '',
          new RegExp(`^import (?!type )[^;]* from '[^']*/${posix.basename(dirname(to))}/`, 'm'),
          `${file} loads ${to} at once`,
        );
      }
    }
  });

  test('do not go in circles', () => {
    const next = new Map<string, string[]>();
    for (const { file, to, typeOnly } of ours) if (!typeOnly) next.set(file, [...(next.get(file) ?? []), to]);
    const done = new Set<string>();
    const walk = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), [...path, file].join(' -> '));
      if (done.has(file)) return;
      for (const to of next.get(file) ?? []) walk(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
  });
});

describe('files', () => {
  test(`have at most ${LINES_MAX} lines`, () => {
    for (const [file, text] of sources) {
      if (LISTS.includes(file)) continue;
      const lines = text.split('\n').length - 1;
      assert.ok(lines <= LINES_MAX, `${file} has ${lines} lines: look for the second thought`);
    }
  });

  test('have names in kebab-case, and open by saying what they are', () => {
    for (const [file, text] of sources) {
      assert.match(file, /^[a-z0-9-]+(\/[a-z0-9-]+)*\.ts$/);
      assert.match(text, /^(#!.*\n)?\/\*\*/, `${file} has no opening comment`);
    }
  });

  test('have no `any`, no enum, no namespace, no literal that is spread', () => {
    for (const [file, text] of sources) {
      const code = withoutComments(text);
      assert.doesNotMatch(code, /[:<|&(,=]\s*any\b(?!\s*[:(])|\bas any\b|\bany\[\]/, file);
      assert.doesNotMatch(code, /^\s*(export\s+)?(const\s+)?(enum|namespace)\s/m, file);
      assert.doesNotMatch(code, /@ts-(ignore|nocheck|expect-error)/, file);
      assert.doesNotMatch(code, /^\s*\.\.\.[{[]|\.\.\.\{ /m, `${file} spreads a literal only to please the formatter`);
    }
  });
});

describe('one truth', () => {
  test('the version is that of package.json', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.equal(VERSION, version);
  });

  test('every error code is raised somewhere, or reserved', () => {
    const used = [...sources].filter(([file]) => file !== 'util/errors.ts').map(([, text]) => withoutComments(text));
    for (const code of Object.keys(ERROR_CODES)) {
      const raised = used.some((text) => text.includes(`'${code}'`));
      assert.equal(raised, !RESERVED_CODES.includes(code), `${code}: ${raised ? 'is reserved, and raised' : 'nothing raises it'}`);
    }
  });
});
