/**
 * From a store to somebody who does not trust it: `prove` on a devnet and on a
 * regtest chain, `verify-proof` with nothing but the document and the root, and
 * documents in which one thing was changed.
 */
import assert from 'node:assert/strict';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { outpointIndex } from '../../src/ledgers/outpoint.ts';
import { documentFromJson, type ProofDocumentJson, verifyDocument } from '../../src/proofs/index.ts';
import type { UtxoProofJson } from '../../src/proofs/mmr/unspent.ts';
import type { Roots } from '../../src/query/proofs.ts';
import { openStore } from '../../src/store/store.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { document, failure, temporary, unspent, withStore } from './run.ts';

interface Point {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

interface Checked {
  readonly holds: boolean;
  readonly kind: string;
  readonly network: string;
  readonly family: string;
  readonly leaf_index?: number;
  readonly says: { readonly point: Point };
}

/** Outpoints as people write them. */
interface Names {
  readonly unspent: readonly string[];
  readonly spent: readonly string[];
}

function namesIn(data: string): Promise<Names> {
  return withStore(data, ({ engine, network }) => {
    const names = (column: string) =>
      [...engine.scan(column)].map(([key]) => `${network.dialect.formatId(key.slice(0, 32))}#${outpointIndex(key)}`);
    return { unspent: names('utxo_unspent'), spent: names('utxo_spent') };
  });
}

async function addressOf(data: string, name: string): Promise<string> {
  const { utxo } = await document<{ utxo: { owner_addr?: string } }>(['query', 'outpoint', name, '--data', data]);
  return utxo.owner_addr ?? assert.fail(`${name} has no address`);
}

const folder = temporary();
let files = 0;

function saved(json: unknown): string {
  const file = join(folder, `proof-${files++}.json`);
  writeFileSync(file, typeof json === 'string' ? json : JSON.stringify(json));
  return file;
}

/** Holds for that root, with no store anywhere near. */
async function assertHolds(json: ProofDocumentJson, root: string | null | undefined): Promise<Checked> {
  assert.ok(root !== undefined);
  const options = { cwd: folder, env: { UNSPENT_DATA: join(folder, 'nowhere') } };
  const { network, family } = json;
  const checked = await document<Checked>(['verify-proof', saved(json), '--root', root ?? 'empty', '--network', network], options);
  assert.deepEqual([checked.holds, checked.kind, checked.network, checked.family], [true, json.kind, network, family]);
  return checked;
}

describe('prove and verify-proof on a devnet', () => {
  const data = join(folder, 'devnet');
  let names: Names;
  let roots: Roots & { readonly point: Point };

  before(async () => {
    const kept = ['--proofs-csmt', 'true', '--utxo-store', 'mmr', '--proofs-set-hash', 'true'];
    await document(['sync', '--source', 'devnet:?blocks=80&seed=3', '--data', data, ...kept]);
    names = await namesIn(data);
    roots = await document(['root', '--data', data]);
  });

  test('root: all that are on, now and at an earlier block', async () => {
    assert.deepEqual(Object.keys(roots), ['point', 'mmr', 'csmt', 'setHash', 'mmrDetails']);
    assert.equal(roots.point.height, 79);
    const then = await document<Roots & { point: Point }>(['root', '--at', 'height:40', '--data', data]);
    assert.equal(then.point.height, 40);
    assert.notDeepEqual([then.mmr, then.csmt, then.setHash], [roots.mmr, roots.csmt, roots.setHash]);
    const again = join(folder, 'again');
    const kept = ['--proofs-csmt', 'true', '--utxo-store', 'mmr', '--proofs-set-hash', 'true'];
    await document(['sync', '--source', 'devnet:?blocks=80&seed=3', '--until', 'height:40', '--data', again, ...kept]);
    assert.deepEqual(await document(['root', '--data', again]), then, 'a store that stopped there says the same');
    const { stdout } = await unspent(['root', '--data', data]);
    assert.match(stdout, new RegExp(`^mmr +${roots.mmr}$`, 'm'));
    assert.match(stdout, new RegExp(`^csmt +${roots.csmt}$`, 'm'));
    assert.match(stdout, /^at +height 79, /m);
    assert.deepEqual(await withStore(data, (store) => store.roots('height:40')), without(then, 'point'));
  });

  test('outpoint: from the tree, from the range, spent', async () => {
    const [name] = names.unspent;
    const inTree = await document<ProofDocumentJson>(['prove', 'outpoint', name, '--data', data]);
    assert.deepEqual([inTree.kind, inTree.point, inTree.root], ['csmt-inclusion', roots.point, roots.csmt]);
    const { says } = await assertHolds(inTree, roots.csmt);
    assert.deepEqual(says, { point: roots.point });
    const inRange = await document<ProofDocumentJson>(['prove', 'outpoint', name, '--tree', 'mmr', '--data', data]);
    assert.deepEqual([inRange.kind, inRange.root], ['mmr-unspent', roots.mmr]);
    assert.equal((await assertHolds(inRange, roots.mmr)).leaf_index, Number((inRange.proof as UtxoProofJson).leaf.leafIndex));
    const spent = await document<ProofDocumentJson>(['prove', 'outpoint', names.spent[0], '--data', data]);
    assert.equal(spent.kind, 'mmr-spent', 'only the range can show that');
    await assertHolds(spent, roots.mmr);
    await failure(['prove', 'outpoint', names.spent[0], '--tree', 'csmt', '--data', data], 'NOT_FOUND', 1);
  });

  test('address and absent, in the past too', async () => {
    const [name] = names.unspent;
    const address = await addressOf(data, name);
    const all = await document<ProofDocumentJson>(['prove', 'address', address, '--data', data]);
    await assertHolds(all, roots.csmt);
    const { count } = await document<{ count: number }>(['query', 'address', address, '--data', data]);
    assert.ok('outputs' in all.claim && all.claim.outputs.length === count && count > 1);
    const absent = await document<ProofDocumentJson>(['prove', 'absent', address, names.spent[0], '--data', data]);
    await assertHolds(absent, roots.csmt);
    await failure(['prove', 'absent', address, name, '--data', data], 'NOT_FOUND', 1);
    const then = await document<Roots>(['root', '--at', 'height:40', '--data', data]);
    const past = await document<ProofDocumentJson>(['prove', 'address', address, '--at', 'height:40', '--data', data]);
    assert.equal(past.point?.height, 40);
    await assertHolds(past, then.csmt);
    await failure(['verify-proof', saved(past), '--root', roots.csmt!, '--network', 'devnet'], 'PROOF_WRONG', 1);
  });

  test('for people: what is shown comes from the bytes, and a root nobody gave is not called trusted', async () => {
    const [name] = names.unspent;
    const address = await addressOf(data, name);
    const { stdout: text } = await unspent(['prove', 'outpoint', name, '--data', data]);
    const [root, network] = [
      ['--root', roots.csmt!],
      ['--network', 'devnet'],
    ];
    for (const [given, missing] of [
      [[], /no --root and no --network was given/],
      [root, /verified: no --network was given/],
      [network, /verified: no --root was given/],
    ] as const) {
      const shown = await unspent(['verify-proof', saved(text), ...given]);
      assert.equal(shown.code, 1);
      assert.match(shown.stderr, missing);
      assert.match(shown.stdout, new RegExp(`^output +${name}\nowner +${address}\namount +[\\d,.]+ ada`, 'm'));
      assert.match(shown.stdout, /^not verified +this output is unspent$/m);
      assert.doesNotMatch(shown.stdout, /^holds/m);
    }
    const { message } = await failure(['verify-proof', saved(text)], 'PROOF_UNVERIFIED', 1);
    assert.match(message, /nothing was verified/);
    const sure = await unspent(['verify-proof', saved(text), ...root, ...network]);
    assert.equal(sure.code, 0);
    assert.match(sure.stdout, /^holds +this output is unspent$/m);
    assert.match(sure.stdout, /^network +devnet \(cardano family\)$/m);
    const piped = await unspent(['verify-proof', '-', ...root, ...network], { stdio: [openSync(saved(text), 'r'), 'pipe', 'pipe'] });
    assert.equal(piped.stdout, sure.stdout);
  });

  test('one thing changed: refused, whatever it is', async () => {
    const [name] = names.unspent;
    const address = await addressOf(data, name);
    const tree = await document<ProofDocumentJson>(['prove', 'outpoint', name, '--data', data]);
    const range = await document<ProofDocumentJson>(['prove', 'outpoint', name, '--tree', 'mmr', '--data', data]);
    const all = await document<ProofDocumentJson>(['prove', 'address', address, '--data', data]);
    const absent = await document<ProofDocumentJson>(['prove', 'absent', address, names.spent[0], '--data', data]);
    const [tx] = name.split('#').map(flipped);
    const wrong: readonly (readonly [object, 'PROOF_WRONG' | 'USAGE'])[] = [
      ...[tree, range, all, absent].map((json) => [{ ...json, root: flipped(json.root!) }, 'PROOF_WRONG'] as const),
      ...[tree, range, absent].map((json) => [{ ...json, claim: { ...json.claim, tx_hash: tx } }, 'PROOF_WRONG'] as const),
      ...[tree, range, absent].map((json) => [{ ...json, claim: { ...json.claim, output_index: 99 } }, 'PROOF_WRONG'] as const),
      [{ ...tree, claim: { ...tree.claim, output: flipped((tree.claim as { output: string }).output) } }, 'PROOF_WRONG'],
      [{ ...range, claim: { ...range.claim, output: flipped((range.claim as { output: string }).output) } }, 'PROOF_WRONG'],
      [{ ...tree, claim: { ...tree.claim, owner: '00'.repeat(32) } }, 'PROOF_WRONG'],
      [{ ...all, claim: { ...all.claim, address: '00'.repeat(29) } }, 'PROOF_WRONG'],
      [{ ...all, claim: { ...all.claim, outputs: (all.claim as unknown as { outputs: object[] }).outputs.slice(1) } }, 'PROOF_WRONG'],
      [{ ...range, kind: 'mmr-spent' }, 'PROOF_WRONG'],
      [{ ...tree, family: 'bitcoin' }, 'PROOF_WRONG'],
      [{ ...without(tree, 'cbor'), proof: { ...tree.proof, rootJump: '0' } }, 'PROOF_WRONG'],
      [{ ...tree, cbor: flipped(tree.cbor!) }, 'USAGE'],
      [{ ...tree, kind: 'csmt-absent' }, 'USAGE'],
      [without(tree, 'claim'), 'USAGE'],
      [{ ...tree, more: 1 }, 'USAGE'],
    ];
    // Through the very code of the command first, then some of them as a user would.
    for (const [json, code] of wrong) {
      const { kind } = json as ProofDocumentJson;
      const root = fromHex((kind?.startsWith('mmr') ? roots.mmr : roots.csmt)!);
      const trusted = { root, network: 'devnet', family: 'cardano' } as const;
      if (code === 'USAGE') assert.throws(() => documentFromJson(json), { code });
      else assert.equal(verifyDocument(documentFromJson(json), trusted).ok, false, JSON.stringify(json).slice(0, 200));
    }
    for (const [json, code] of wrong.filter((_, i) => i % 5 === 0)) {
      const root = (json as ProofDocumentJson).kind.startsWith('mmr') ? roots.mmr : roots.csmt;
      await failure(['verify-proof', saved(json), '--root', root!, '--network', 'devnet'], code, code === 'USAGE' ? 2 : 1);
    }
  });

  test('what is no proof, and what cannot be asked', async () => {
    await Promise.all(['', 'nonsense', '[]', '{"error":{}}'].map((text) => failure(['verify-proof', saved(text)], 'USAGE', 2)));
    await failure(['verify-proof', join(folder, 'not-there.json')], 'IO', 1);
    await failure(['verify-proof', saved('{}'), '--root', 'abc'], 'USAGE', 2);
    await failure(['verify-proof', saved('{}'), '--network', 'nowhere'], 'NETWORK_UNKNOWN', 3);
    await failure(['verify-proof', folder], 'IO', 1);
    await failure(['prove', 'outpoint', 'abc', '--data', data], 'USAGE', 2);
    await failure(['prove', 'address', 'addr_nonsense', '--data', data], 'USAGE', 2);
    await failure(['root', '--at', 'height:9999', '--data', data], 'POINT_UNKNOWN', 1);
    const plain = join(folder, 'plain');
    await document(['sync', '--source', 'devnet:?blocks=5', '--data', plain]);
    const { message } = await failure(['root', '--data', plain], 'UNSUPPORTED', 1);
    assert.match(message, /proofs\.csmt.*proofs\.setHash/);
    const [name] = (await namesIn(plain)).unspent;
    assert.match((await failure(['prove', 'outpoint', name, '--data', plain], 'UNSUPPORTED', 1)).message, /proofs\.csmt/);
  });
});

describe('prove and verify-proof on a chain of the Bitcoin family', () => {
  const data = join(folder, 'regtest');
  let names: Names;
  let roots: Roots;

  before(async () => {
    const { config } = loadConfig({ flags: { set: ['proofs.csmt=true', 'utxo.store=mmr', 'proofs.setHash=true'] } });
    const store = await openStore({ data, network: 'bitcoin-regtest', config });
    const chain = new PlainChain(11);
    for (let i = 0; i < 40; i++) {
      const { raw, height } = chain.mine();
      store.fold.apply([store.network.ledger.decode(raw, height)]);
    }
    await store.close();
    names = await namesIn(data);
    roots = await document(['root', '--data', data]);
  });

  test('ids as people write them, owners by address and by script hash', async () => {
    const [name] = names.unspent;
    for (const tree of ['csmt', 'mmr'] as const) {
      const proof = await document<ProofDocumentJson>(['prove', 'outpoint', name, '--tree', tree, '--data', data]);
      const { tx_hash, output_index } = proof.claim as { tx_hash: string; output_index: number };
      assert.deepEqual([`${tx_hash}#${output_index}`, proof.family], [name, 'bitcoin']);
      await assertHolds(proof, roots[tree]);
    }
    const { owner } = (await document<ProofDocumentJson>(['prove', 'outpoint', name, '--tree', 'csmt', '--data', data])).claim as {
      owner: string;
    };
    const all = await document<ProofDocumentJson>(['prove', 'address', owner, '--data', data]);
    await assertHolds(all, roots.csmt);
    assert.ok('outputs' in all.claim && all.claim.outputs.some(({ tx_hash, output_index }) => `${tx_hash}#${output_index}` === name));
    const absent = await document<ProofDocumentJson>(['prove', 'absent', owner, names.spent[0], '--data', data]);
    await assertHolds(absent, roots.csmt);
    const { stdout } = await unspent(['verify-proof', saved(all), '--root', roots.csmt!, '--network', 'bitcoin-regtest']);
    assert.match(stdout, /^owner +[0-9a-f]{64} \(a hash/m);
    assert.match(stdout, new RegExp(`^output +${name} \\d+ satoshi$`, 'm'));
  });
});

function without<T extends object>(value: T, name: string): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name)) as Partial<T>;
}

/** Another last digit. */
function flipped(hex: string): string {
  return hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0');
}
