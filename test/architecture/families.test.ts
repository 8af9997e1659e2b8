/**
 * What differs between the families of chains is said once, in their descriptors
 * (`families/family.ts`). So no other code asks for a family's name, and code
 * that works on any chain imports nothing of one family: not its ledger, not its
 * sources, not its half of the server. Family code is what stands in a folder or
 * file called `cardano` or `bitcoin`.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';
import { FAMILIES, familyNamed, networkNames } from '../../src/families/networks.ts';
import { SOURCE_FORMS } from '../../src/families/open-source.ts';
import { FAMILY_NAMES } from '../../src/proofs/index.ts';
import { shapesOf } from '../../src/server/shapes.ts';

const src = resolve(import.meta.dirname, '../../src');

/** Files for any chain that import family code: file, what, why. */
const IMPORTS: readonly (readonly [file: string, target: RegExp, why: string])[] = [
  ['families/networks.ts', /^families\//, 'the list of descriptors'],
  ['server/wire-shapes.ts', /^server\//, 'the list of wire shapes'],
  ['cli/local-chains.ts', /^cli\//, 'the table of chains that the command line makes'],
  ['cli/program.ts', /^cli\/cardano\/(cage|relay)\.ts$/, 'the list of commands; some are of one family'],
  ['cli/start-follow.ts', /^cli\/bitcoin\/follow-txs\.ts$/, 'records of one family are fed beside a store of it'],
  ['cli/wallet/wallet.ts', /^cli\/bitcoin\/wallet\//, 'the list of commands; payments are of one family (WalletFamily.lacks)'],
  ['cli/wallet/create.ts', /^cli\/bitcoin\/wallet\//, 'flags for keys, which wallets of one family have (WalletFamily.lacks)'],
  ['cli/wallet/keep.ts', /^cli\/bitcoin\/wallet\//, 'a flag for the same keys'],
  ['server/wallets/index.ts', /^(server\/(bitcoin|cardano)\/wallets|families)\//, 'the table of routes that wallets of one family have'],
  ['cli/wallet/select.ts', /^(cli\/(bitcoin|cardano)\/wallet|families)\//, 'the table of what choosing coins is, by family'],
  ['cli/verify.ts', /^cli\/bitcoin\/verify-node\.ts$/, 'a flag that only stores of one family take'],
  ['projections/registry.ts', /^projections\/cardano\/cage\/entry\.ts$/, 'the table of projections; cages are of one family'],
  ['query/query.ts', /cardano\/cage/, 'cages are of one family (Ledger.scriptData)'],
  ['store/remarks.ts', /^store\/cardano\//, 'the list of what is said of stores; cages are of one family'],
  ['store/open-txs.ts', /^families\/bitcoin\.ts$/, 'records in a database are fed with transactions of one family (Ledger.txBytes)'],
  ['store/identity.ts', /^store\/cardano\//, 'a setting that only stores of one family take'],
  ['testing/branch-makers.ts', /^testing\//, 'the list of chains that projections are tested on'],
  ['proofs/index.ts', /^proofs\/cardano\//, 'the list of verifiers; cages are of one family'],
  ['proofs.ts', /^proofs\/cardano\//, 'the door of the package to verifiers'],
  ['sources.ts', /^(chains|library)\//, 'the door of the package to chains for tests'],
  ['wallet/rules/ownership.ts', /^ledgers\/bitcoin\/script\.ts$/, 'only scripts of one family have the keys of owners in them'],
  ['txstore/rules/new-record.ts', /^ledgers\/bitcoin\/transaction\.ts$/, 'the only family whose scripts can be provably unspendable'],
  [
    'txstore/chain/chain-txs.ts',
    /^ledgers\/bitcoin\/index\.ts$/,
    'the only family whose transactions stand in one piece (Ledger.joinBlock)',
  ],
  ['txstore/chain/check.ts', /^ledgers\/bitcoin\/index\.ts$/, 'the same, looked at by verify'],
  ['wallet/rules/ownership.ts', /^ledgers\/cardano\/address\.ts$/, 'only addresses of one family have a stake credential in them'],
  ['cage.ts', /cardano/, 'the door of the package to cages, which are of one family'],
  ['wallet.ts', /bitcoin/, 'the door of the package to wallets, which programs have of one family'],
];

/** Files for any chain in which a family's name or a network's, or what only one family has, stands as a value. */
const NAMES: readonly (readonly [file: string, why: string])[] = [
  ['cli/bench.ts', 'benchmarks that are called so'],
  ['proofs/families.ts', 'runs in browsers without the rest, and has the rules of a verifier in one table'],
];

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

const familyOf = (path: string): string | null => /(?:^|\/)(cardano|bitcoin)(?:\/|\.ts$)/.exec(path)?.[1] ?? null;

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(sep).join(posix.sep))
  .filter((name) => name.endsWith('.ts'))
  .sort();
const code = new Map(files.map((file) => [file, withoutComments(readFileSync(join(src, file), 'utf8'))]));

/** Below src/, static or not, types or not. */
function importsOf(file: string, text: string): string[] {
  const targets = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)'(\.[^']+)'/gm)].map(([, target]) => target);
  return targets.map((target) => posix.normalize(posix.join(posix.dirname(file), target)));
}

/** A family, or a network that is one family's, asked for by name; or the unit of its coin, which says the same. */
function questions(text: string): string[] {
  const names = [...FAMILY_NAMES, ...networkNames(), ...FAMILIES.map(({ unit }) => unit)].join('|');
  const quoted = `['"\`](?:${names})['"\`]`;
  const patterns = [
    // Of a family's name every use: there is nothing else to do with it than to ask.
    `['"\`](?:${FAMILY_NAMES.join('|')})['"\`]`,
    // As a key of a table, or looked up in one.
    `(?:^|[{,(\\s])(?:${FAMILY_NAMES.join('|')})\\s*:|[\\w)\\]]\\.(?:${FAMILY_NAMES.join('|')})\\b`,
    `[!=]==?\\s*${quoted}|${quoted}\\s*[!=]==?|\\bcase\\s+${quoted}|\\[${quoted}\\]`,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(new RegExp(pattern, 'gm'))].map(([found]) => found.trim()));
}

describe('families', () => {
  test('are asked for by name nowhere but in their descriptors', () => {
    const found = [...code].filter(([file, text]) => familyOf(file) === null && questions(text).length > 0);
    assert.deepEqual(
      found.map(([file, text]) => `${file}: ${questions(text).join(' ')}`).filter((line) => !NAMES.some(([file]) => line.startsWith(file))),
      [],
    );
    for (const [file] of NAMES)
      assert.ok(questions(code.get(file) ?? '').length > 0, `${file} asks for no name any more: take it off the list`);
  });

  test('such a question is seen in every form', () => {
    const asked = [
      "if (network.family.name === 'bitcoin') return",
      'network.family.name !== "cardano"',
      'const table = { cardano: 1, bitcoin: 2 };',
      'const { unit } = TABLE.bitcoin;',
      "switch (name) { case 'litecoin': }",
      "const isPrivate = 'devnet' === name;",
      "const hasAssets = status.unit === 'lovelace';",
      "WINDOWS['preview']",
    ];
    for (const text of asked) assert.ok(questions(text).length > 0, text);
    for (const text of ["const text = 'the Bitcoin family';", "network: 'devnet',", 'const { lovelace } = output;'])
      assert.deepEqual(questions(text), [], text);
  });

  test('code for any chain imports nothing of one family, but for a few tables', () => {
    const wrong: string[] = [];
    const used = new Set<string>();
    for (const [file, text] of code) {
      if (familyOf(file) !== null) continue;
      for (const target of importsOf(file, text).filter((path) => familyOf(path) !== null)) {
        const entry = IMPORTS.find(([from, pattern]) => from === file && pattern.test(target));
        if (entry === undefined) wrong.push(`${file} imports ${target}`);
        else used.add(entry[0]);
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      IMPORTS.map(([file]) => file).filter((file) => !used.has(file)),
      [],
      'take what is not needed any more off the list',
    );
  });

  test('code of one family imports nothing of the other', () => {
    const wrong = [...code].flatMap(([file, text]) =>
      importsOf(file, text).flatMap((target) => {
        const [from, to] = [familyOf(file), familyOf(target)];
        return from !== null && to !== null && from !== to ? [`${file} imports ${target}`] : [];
      }),
    );
    assert.deepEqual(wrong, []);
  });
});

describe('descriptors', () => {
  test('there is one for each name that documents know, and networks and schemes are of one family only', () => {
    assert.deepEqual(
      FAMILIES.map(({ name }) => name),
      FAMILY_NAMES,
    );
    for (const family of FAMILIES) assert.equal(familyNamed(family.name), family);
    assert.equal(familyNamed('dogecoin'), undefined);
    const schemes = SOURCE_FORMS.map((form) => form.slice(0, form.indexOf(':')));
    for (const names of [networkNames(), schemes]) assert.equal(new Set(names).size, names.length, names.join());
  });

  test('each kind of source has a folder of its family, and each wire shape that is named is there', () => {
    for (const family of FAMILIES) {
      assert.ok(readdirSync(join(src, 'sources', family.name)).length > 0);
      const names = shapesOf({ family }).map(({ name }) => name);
      assert.deepEqual(names.toSorted(), family.wireShapes.toSorted());
      for (const name of names)
        assert.ok(
          files.some((file) => [`server/${family.name}/${name}`, `server/${name}`].includes(dirname(file))),
          name,
        );
    }
  });
});
