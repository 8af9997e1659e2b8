/**
 * What strangers get works: every program in `examples/` and every TypeScript
 * block of the README is type-checked and run from the packed package, in an
 * empty project, without a network. The blocks of docs/reference/cage.md are
 * type-checked; test/docs runs them.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { isSupported } from '../../src/util/node-version.ts';
import { VERSION } from '../../src/util/version.ts';
import { Running } from '../cli/running.ts';
import { cagePage, GIVEN } from '../docs/cage-page.ts';
import { LockedRegistry } from './locked-registry.ts';
import { PackedProject } from './packed.ts';

const root = resolve(import.meta.dirname, '../..');

/** What each program prints, in part: it did what it is an example of. */
const PRINTS: Readonly<Record<string, readonly RegExp[]>> = {
  'balance.ts': [/blocks \(end\)/, /holds \d+ lovelace/, /at height 100 it held \d+ lovelace/, /9 blocks undone; now at height 290/],
  'cages.ts': [/^a token: in block 5, for \d+ lovelace\na request: in block 6, .*\nan update: in block 7, .*\nverified: answer = 42\n$/],
  'events-to-sqlite.ts': [
    /^151 blocks applied, 0 undone\n450 blocks applied, /,
    /blocks applied, [1-9]\d* undone\n/,
    /[1-9]\d* balances, 0 of them wrong/,
  ],
  'own-projection.ts': [/^(\w{64}#\d+ \d{10,} lovelace\n){3}[1-9]\d* outputs of 1000000000n lovelace or more at height 100\n/],
  'serve.ts': [/listening on http:\/\/127\.0\.0\.1:\d+\//, /200 addr_test1\w+ has [1-9]\d* unspent outputs/, /stopped at height \d+/],
  'wallet.ts': [/^pay to bcrt1\w+\n500000 satoshi may be spent\nto be signed: cHNidP\S+, for \d+ satoshi; leased: true\n$/],
  'verify-proof.ts': [/bytes: \{ ok: true/, /with another root: the document is about another root/],
};

/** Where the Node of a system is, which may be an old one. */
const OLD_NODES = ['/usr/bin/node', '/usr/local/bin/node'];

/** As somebody would test an engine and a projection of their own. */
const SUITES = `
import { CONFORMANCE_COLUMNS, engineConformance, memoryEngine, projectionProperties } from 'unspent/testing';

projectionProperties(
  { name: 'own', from: 'outputs', make: () => ({ name: 'own', columns: [], apply: () => undefined, revert: () => undefined }) },
  { runs: 1 },
);
engineConformance('in memory', async () => {
  const engine = await memoryEngine.open('', CONFORMANCE_COLUMNS);
  return { engine, cleanup: () => engine.close() };
});
`;

const examples = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'));
const readmeBlocks = Array.from(readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g), ([, text]) => text);

const NO_REGISTRY = /ENOTFOUND|ENOTCACHED|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ECONNRESET/;

/** What `unspent start` gives after that: a page, the documentation, its reference and metrics, over a chain that also turns. */
async function assertServes(t: TestContext, command: string, cwd: string): Promise<void> {
  const running = new Running(t, ['start', '--port', '0', '--data', join(cwd, 'started')], cwd, command);
  const [, url] = await running.says(/page +open (http:\S+)/);
  const pages = { '/': /<title>[^<]*Unspent/i, '/docs/': /<title>/, '/docs/api': /<title>/, '/metrics': /^unspent_tip_height\{?.*\d$/m };
  for (const [path, content] of Object.entries(pages)) {
    const answer = await fetch(new URL(path, url));
    assert.equal(answer.status, 200, path);
    assert.match(await answer.text(), content, path);
  }
  running.tell('mine 3');
  running.tell('fork 2');
  await running.remarks(/rollback: 2 blocks undone/);
  const { code, stderr } = await running.interrupt('SIGTERM');
  assert.equal(code, 0, stderr);
}

describe('the packed package, in an empty project', () => {
  let project: PackedProject;
  let registry: LockedRegistry;

  before(async () => {
    registry = await LockedRegistry.start();
    project = new PackedProject();
    for (const name of examples) project.write(name, readFileSync(join(root, 'examples', name), 'utf8'));
    project.write('suites.ts', SUITES);
    const { reads, sends } = cagePage();
    project.write('cage-page-reads.ts', reads.join('\n'));
    project.write('cage-page-sends.ts', [GIVEN, ...sends].join('\n'));
    readmeBlocks.forEach((text, i) => {
      project.write(`readme-${i + 1}.ts`, text);
    });
  });
  after(() => {
    registry?.close();
    project?.remove();
  });

  it('type-checks, declarations included', () => {
    const { status, stdout } = project.typeCheck();
    assert.equal(status, 0, stdout);
  });

  it('has every program of examples/, and each says what it prints', () => {
    assert.deepEqual(examples.sort(), Object.keys(PRINTS).sort());
    assert.deepEqual(readdirSync(join(project.installed, 'examples')).sort(), readdirSync(join(root, 'examples')).sort());
  });

  for (const name of examples) {
    it(`runs examples/${name}`, () => {
      const { status, stdout, stderr } = project.runProgram(name);
      assert.equal(status, 0, stderr);
      for (const expected of PRINTS[name] ?? []) assert.match(stdout, expected);
    });
  }

  it('runs the blocks of the README', () => {
    assert.ok(readmeBlocks.length > 0);
    const runs = readmeBlocks.map((_, i) => project.runProgram(`readme-${i + 1}.ts`));
    for (const { status, stderr } of runs) assert.equal(status, 0, stderr);
    assert.match(runs[0].stdout, /^\d+ blocks, \d+ unspent outputs\n\w+ holds \d+ lovelace\n/);
  });

  it('gives the suites for engines and projections', () => {
    const { status, stdout } = project.runProgram('suites.ts');
    assert.equal(status, 0, stdout);
    assert.match(stdout, /projection contract: own[\s\S]*engine contract: in memory/);
  });

  it('runs the command', () => {
    const { status, stdout, stderr } = project.run(join(project.installed, 'bin', 'unspent'), ['--version']);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), VERSION);
  });

  it('is installed for everybody without a compiler and without install scripts', async (t) => {
    const prefix = join(project.folder, 'prefix');
    const installing = await project.installGlobally(prefix, registry.url, ['--ignore-scripts', '--omit=optional']);
    if (installing.code !== 0 && NO_REGISTRY.test(installing.stderr)) return t.skip('no registry');
    assert.equal(installing.code, 0, installing.stderr);
    const command = join(prefix, 'bin', 'unspent');
    await assertServes(t, command, project.folder);
    const data = join(project.folder, 'installed-data');
    const synced = project.run(command, ['sync', '--source', 'devnet:?blocks=3', '--data', data, '--json', '--quiet']);
    assert.equal(synced.status, 0, synced.stderr);
    const { engine } = JSON.parse(project.run(command, ['status', '--data', data, '--json', '--quiet']).stdout) as {
      engine: { kind: string };
    };
    assert.match(engine.kind, /^(rocksdb|sqlite)$/);
    const library = join(prefix, 'lib/node_modules/unspent');
    assert.ok(existsSync(join(library, 'packaging/systemd/unspent.service')));

    const old = OLD_NODES.find((path) => existsSync(path) && !isSupported(project.run(path, ['--version']).stdout.slice(1)));
    if (old === undefined) return t.diagnostic('there is no old Node here to be refused on');
    const refused = project.run(command, ['--version'], project.folder, { PATH: `${dirname(old)}:/usr/bin:/bin` });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^unspent: \S+ is Node v\S+; unspent needs Node 22\.18 or newer/);
    const doors = Object.values(
      JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')).exports as Record<string, { default?: string }>,
    );
    for (const door of doors.flatMap((each) => each.default ?? [])) {
      const { status, stderr } = project.run(old, ['--input-type=module', '-e', `import ${JSON.stringify(join(library, door))}`]);
      assert.equal(status, 1, door);
      assert.match(stderr, /Error: unspent needs Node 22\.18 or newer, and this is \d+/, door);
      assert.doesNotMatch(stderr, /SyntaxError|is not a function/);
    }
  });

  it('is installed with whatever scripts and optional packages there are, where no compiler is', async (t) => {
    // As on a machine that has Node and nothing to build with: a script that compiles would fail.
    const bin = join(project.folder, 'bin');
    mkdirSync(bin);
    const found = (name: string): string | undefined =>
      [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)].map((path) => join(path, name)).find(existsSync);
    for (const name of ['node', 'npm', 'sh', 'env', 'dirname', 'readlink', 'uname', 'sed', 'tar'])
      symlinkSync(realpathSync(found(name) ?? assert.fail(name)), join(bin, name));
    const prefix = join(project.folder, 'prefix-with-scripts');
    const installing = await project.installGlobally(prefix, registry.url, [], { PATH: bin });
    if (installing.code !== 0 && NO_REGISTRY.test(installing.stderr)) return t.skip('no registry');
    assert.equal(installing.code, 0, installing.stderr);
    const { status, stdout, stderr } = project.run(join(prefix, 'bin', 'unspent'), ['--version'], project.folder, { PATH: bin });
    assert.deepEqual([status, stdout.trim()], [0, VERSION], stderr);
  });

  it('knows which Node is too old', () => {
    assert.deepEqual(['18.0.0', '20.20.2', '22.17.9', '22.18.0', '24.0.0'].map(isSupported), [false, false, false, true, true]);
  });
});
