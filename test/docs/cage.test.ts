/**
 * The programs of docs/reference/cage.md run, from the sources and in order: the
 * one that reads on the embedded devnet, the one that sends with a devnet behind
 * a local socket. test/package type-checks them against the packed package.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fromHex, utf8 } from '../../src/util/bytes.ts';
import { temporary } from '../cli/run.ts';
import { CageNodeRig } from '../support/cage-node.ts';
import { privateKeyOf } from '../support/sign.ts';
import { cagePage } from './cage-page.ts';

const source = resolve(import.meta.dirname, '../../src');
const ADA = 1_000_000n;
/** The phases of the page's token. */
const PHASE_MS = 600_000;

/** Runs a program whose imports are those of the package; what it writes to the console. */
async function run(t: TestContext, text: string): Promise<string[]> {
  const file = join(temporary(), 'program.ts');
  const door = (name: string): string => pathToFileURL(join(source, `${name === '' ? 'index' : name.slice(1)}.ts`)).href;
  writeFileSync(
    file,
    text.replace(/from 'unspent(\/\w+)?'/g, (_, name = '') => `from '${door(name)}'`),
  );
  const lines: string[] = [];
  const log = t.mock.method(console, 'log', (...words: unknown[]) => void lines.push(words.join(' ')));
  try {
    await import(pathToFileURL(file).href);
  } finally {
    log.mock.restore();
  }
  return lines;
}

test('docs/reference/cage.md: the blocks that read', async (t) => {
  const text = cagePage()
    .reads.join('\n')
    .replace("'./cages'", JSON.stringify(join(temporary(), 'cages')));
  const lines = await run(t, text);
  assert.match(lines[0], /^[0-9a-f]{56}\.[0-9a-f]{64} [0-9a-f]{56} [0-9a-f]{64} \d+$/, 'a token');
  assert.match(lines.at(-2)!, / true$/, 'a view is of one block');
  assert.match(lines.at(-1)!, /^\d+ \d+ [0-9a-f]{64}$/, 'a session');
});

test('docs/reference/cage.md: the blocks that send', async (t) => {
  const rig = await CageNodeRig.start(
    31,
    Array.from({ length: 6 }, () => 50n * ADA),
  );
  t.after(() => rig.close());
  await rig.settled();
  const { chain, wallet, store, address } = rig;
  // Somebody makes blocks when there is something to put into them.
  const stopListening = chain.onChange(() => {
    if (chain.pending().length > 0) setImmediate(() => chain.pending().length > 0 && chain.mine(3));
  });
  t.after(stopListening);
  const given = {
    store,
    address,
    stateCode: fromHex('450101002499'),
    signingKey: privateKeyOf(wallet),
    verificationKey: wallet.verificationKey,
    key: utf8('key'),
    value: utf8('value'),
    clock: () => rig.now,
    pass: () => rig.pass(PHASE_MS),
  };
  Object.assign(globalThis, { given });
  const { sends } = cagePage();
  const waits = sends.map((block) => (/txBuilder\.(retract|reject)\(/.test(block) ? `await given.pass();\n${block}` : block));
  const names = Object.keys(given).filter((name) => name !== 'pass');
  const text = `const { ${names.join(', ')} } = given;\n${waits.join('\n')}`;
  const lines = await run(t, text.replace("'n2c:/run/cardano/node.socket'", `${JSON.stringify(rig.url)}, clock`));
  assert.deepEqual(lines, ['155381 6', '1 true']);
  assert.deepEqual(rig.cage.state.tokens(), [], 'the token was ended');
});
