/**
 * Roots and proofs over HTTP, on both families, while the chain moves in both
 * directions: each answer holds for the root of the block it names, that root is
 * the one a tree built from scratch has, and the claim is what the account says.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { documentFromJson, type ProofDocument, type ProofDocumentJson, type Trusted, verifyDocument } from '../../../src/proofs/index.ts';
import { Prover } from '../../../src/query/proofs.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { spoil } from '../../proofs/spoil.ts';
import { Dice } from '../../proofs/support.ts';
import { TEST_SEED } from '../../support/harness.ts';
import { bitcoinWorld, cardanoWorld, type Entry, type Frozen, type ProofWorld } from './proofs-world.ts';

const REQUESTS = 350;
const MUTANTS = 600;

interface Problem {
  readonly code: string;
  readonly setting?: string;
  readonly field?: string;
  readonly limit?: number;
}

interface RootsJson {
  readonly point: Frozen['point'];
  readonly mmr: string;
  readonly csmt: string | null;
  readonly setHash: string;
  readonly mmrDetails: { readonly size: number };
}

class Walk {
  readonly world: ProofWorld;
  readonly random: Random;
  readonly counts = new Map<string, number>();
  /** Documents that held, each with the root it held for. */
  readonly documents: { readonly json: ProofDocumentJson; readonly trusted: Trusted }[] = [];
  /** All roots of each block, as they were told when it was the newest. */
  readonly told = new Map<string, RootsJson>();

  constructor(world: ProofWorld, random: Random) {
    this.world = world;
    this.random = random;
  }

  async move(): Promise<void> {
    const { world, random } = this;
    const { length } = world.account.blocks;
    if (random.chance(0.4) || length > 60) world.back(1 + random.int(Math.min(10, length - 5)));
    if (random.chance(0.9)) world.forward(1 + random.int(6), 1 + random.int(3));
    const { body } = await world.get<RootsJson>('/roots');
    this.told.set(body.point.hash, body);
  }

  /** The present, or an earlier block, with how to ask for it. */
  place(): { readonly frozen: Frozen; readonly at: string } {
    if (this.random.chance(0.5)) return { frozen: this.world.tip, at: '' };
    const frozen = this.world.below(this.random.int(Math.min(20, this.world.account.blocks.length)));
    const { height, slot, hash } = frozen.point;
    return { frozen, at: `at=${this.random.pick([`height:${height}`, `slot:${slot}`, hash])}` };
  }

  /** Asks for a document, and checks all that is true of every one. */
  async document(path: string, frozen: Frozen): Promise<ProofDocument> {
    const { world } = this;
    const { status, body, at } = await world.get<ProofDocumentJson>(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    assert.equal(at?.point.hash, frozen.point.hash, path);
    const document = documentFromJson(body);
    const roots = world.rootsOf(frozen);
    const root = document.kind.startsWith('mmr') ? roots.mmr : roots.csmt;
    const trusted = root === null ? null : fromHex(root);
    assert.deepEqual([document.network, document.family], [world.network.name, world.network.family.name]);
    assert.deepEqual(document.point, frozen.point, path);
    const known = { root: trusted, network: world.network.name, family: world.network.family.name };
    assert.ok(verifyDocument(document, known).ok, path);
    this.documents.push({ json: body, trusted: known });
    this.counts.set(document.kind, (this.counts.get(document.kind) ?? 0) + 1);
    return document;
  }

  async problem(path: string, code: string): Promise<Problem> {
    const { body } = await this.world.get<Problem>(path);
    assert.equal(body.code, code, `${path}: ${JSON.stringify(body)}`);
    this.counts.set(code, (this.counts.get(code) ?? 0) + 1);
    return body;
  }

  some({ entries }: Frozen): Entry {
    return this.random.pick(entries);
  }
}

const at = (path: string, query: string): string => (query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`);
const nameIn = ({ tx_hash, output_index }: { tx_hash: string; output_index: number }): string => `${tx_hash}#${output_index}`;

type Ask = (walk: Walk, frozen: Frozen, query: string) => Promise<void>;

const ASKS: readonly Ask[] = [
  async ({ world, told }, frozen, query) => {
    const wanted = world.rootsOf(frozen);
    const { body } = await world.get<RootsJson>(at('/roots', query));
    assert.deepEqual([body.point, body.csmt, body.mmr], [frozen.point, wanted.csmt, wanted.mmr]);
    const before = told.get(frozen.point.hash);
    if (before !== undefined) assert.deepEqual(body, before, 'roots of an earlier block are what they were');
    const tree = await world.get<object>(at('/csmt/root', query));
    assert.deepEqual(tree.body, { point: frozen.point, root: wanted.csmt });
    const range = await world.get<{ root: string; size: number }>(at('/utxo/mmr/root', query));
    assert.deepEqual([range.body.root, range.body.size], [wanted.mmr, body.mmrDetails.size]);
  },
  async (walk, frozen, query) => {
    const { name, address, content } = walk.some(walk.world.tip);
    const path = at(`/csmt/utxo/${name.replace('#', '/')}/proof`, query);
    const known = frozen.entries.some((entry) => entry.name === name);
    if (!known || frozen.spent.has(name)) return void (await walk.problem(path, 'NOT_FOUND'));
    const { kind, claim } = await walk.document(path, frozen);
    assert.ok(kind === 'csmt-inclusion');
    assert.deepEqual([toHex(claim.txOut), toHex(claim.owner)], [toHex(content), toHex(walk.world.ownerOf(address))]);
  },
  async (walk, frozen, query) => {
    const { name, content } = walk.some(walk.world.tip);
    const leaf = frozen.entries.findIndex((entry) => entry.name === name);
    const path = at(`/utxo/mmr/proof/${name.replace('#', '/')}`, query);
    const indexPath = at(`/utxo/mmr/leaf-index/${name.replace('#', '/')}`, query);
    if (leaf < 0) {
      await walk.problem(indexPath, 'NOT_FOUND');
      return void (await walk.problem(path, 'NOT_FOUND'));
    }
    const { body } = await walk.world.get<{ tx_hash: string; output_index: number; leaf_index: number }>(indexPath);
    assert.deepEqual([nameIn(body), body.leaf_index], [name, leaf]);
    const { kind, claim } = await walk.document(path, frozen);
    assert.equal(kind, frozen.spent.has(name) ? 'mmr-spent' : 'mmr-unspent');
    assert.ok('txOut' in claim);
    assert.equal(toHex(claim.txOut), toHex(content));
  },
  async (walk, frozen, query) => {
    const { address, addressText } = walk.some(walk.world.tip);
    const mine = frozen.entries.filter((entry) => toHex(entry.address) === toHex(address) && !frozen.spent.has(entry.name));
    const document = await walk.document(at(`/csmt/addresses/${addressText}/proof`, query), frozen);
    assert.ok(document.kind === 'csmt-complete');
    const { outputs } = document.claim;
    const given = outputs.map(({ txId, index, txOut }) => `${walk.world.network.dialect.formatId(txId)}#${index} ${toHex(txOut)}`);
    assert.deepEqual(given.sort(), mine.map(({ name, content }) => `${name} ${toHex(content)}`).sort());
  },
  async (walk, frozen, query) => {
    const [owner, output] = [walk.some(walk.world.tip), walk.some(walk.world.tip)];
    const [tx, index] = output.name.split('#');
    const path = at(`/csmt/absence?address=${owner.addressText}&tx=${tx}&index=${index}`, query);
    const known = frozen.entries.some(({ name }) => name === output.name) && !frozen.spent.has(output.name);
    if (known && toHex(owner.address) === toHex(output.address)) return void (await walk.problem(path, 'NOT_FOUND'));
    const { kind, claim } = await walk.document(path, frozen);
    assert.ok(kind === 'csmt-absent' && 'owner' in claim);
    assert.equal(toHex(claim.owner), toHex(walk.world.ownerOf(owner.address)));
  },
];

const WORLDS = [
  ['Cardano', cardanoWorld],
  ['the Bitcoin family', bitcoinWorld],
] as const;

for (const [family, open] of WORLDS) {
  describe(`proofs over HTTP, ${family}`, () => {
    test('hold for the root of their block, now and then, through rollbacks', async (t) => {
      const world = open(TEST_SEED);
      world.forward(30, 5);
      const walk = new Walk(world, new Random(TEST_SEED));
      for (let i = 0; i < REQUESTS; i++) {
        if (walk.random.chance(0.08)) await walk.move();
        const { frozen, at: query } = walk.place();
        await ASKS[i % ASKS.length](walk, frozen, query);
      }
      t.diagnostic(JSON.stringify(Object.fromEntries(walk.counts)));
      for (const kind of ['csmt-inclusion', 'csmt-complete', 'csmt-absent', 'mmr-unspent', 'mmr-spent'])
        assert.ok((walk.counts.get(kind) ?? 0) >= 5, `${kind}: ${walk.counts.get(kind)}`);
      assertNoForgery(walk);
      await world.close();
    });

    test('at the origin there is nothing, and that can be shown', async () => {
      const world = open(5);
      world.forward(8);
      const { addressText, name } = world.tip.entries[0];
      const { body: roots } = await world.get<RootsJson>('/roots?at=origin');
      assert.deepEqual([roots.point, roots.csmt, roots.mmrDetails.size], [null, null, 0]);
      const [tx, index] = name.split('#');
      for (const path of [
        `/csmt/addresses/${addressText}/proof?at=origin`,
        `/csmt/absence?address=${addressText}&tx=${tx}&index=${index}&at=origin`,
      ]) {
        const document = documentFromJson((await world.get(path)).body);
        assert.deepEqual(
          [document.point, verifyDocument(document, { root: null, network: world.network.name, family: world.network.family.name }).ok],
          [null, true],
          path,
        );
      }
      await world.close();
    });

    test('what is not kept is told by the setting that would keep it', async () => {
      const world = open(5, ['csmt', 'mmr', 'setHash']);
      world.forward(6);
      const { addressText, name } = world.tip.entries[0];
      const [tx, index] = name.split('#');
      const tree = ['/csmt/root', `/csmt/utxo/${tx}/${index}/proof`, `/csmt/addresses/${addressText}/proof`];
      for (const path of [...tree, `/csmt/absence?address=${addressText}&tx=${tx}&index=${index}`]) {
        const { status, body } = await world.get<Problem>(path);
        assert.deepEqual([status, body.code, body.setting], [501, 'UNSUPPORTED', 'proofs.csmt'], path);
      }
      for (const path of ['/utxo/mmr/root', `/utxo/mmr/proof/${tx}/${index}`, `/utxo/mmr/leaf-index/${tx}/${index}`]) {
        const { status, body } = await world.get<Problem>(path);
        assert.deepEqual([status, body.code, body.setting], [501, 'UNSUPPORTED', 'utxo.store = "mmr"'], path);
      }
      const { body } = await world.get<object>('/roots');
      assert.deepEqual(body, { point: world.tip.point });
      await world.close();
    });

    test('bad questions are told what is wrong with them', async () => {
      const world = open(5);
      world.forward(6);
      const { addressText, name } = world.tip.entries[0];
      const [tx, index] = name.split('#');
      const wrong: readonly (readonly [path: string, code: string, field: string])[] = [
        ['/csmt/addresses/nobody/proof', 'USAGE', 'address'],
        [`/csmt/absence?address=nobody&tx=${tx}&index=${index}`, 'USAGE', 'address'],
        [`/csmt/absence?address=${addressText}&tx=${tx}`, 'USAGE', 'index'],
        [`/csmt/absence?address=${addressText}&tx=abc&index=0`, 'USAGE', 'tx'],
        [`/csmt/utxo/${tx}/4294967296/proof`, 'USAGE', 'index'],
        [`/utxo/mmr/proof/${tx.slice(2)}/0`, 'USAGE', 'tx'],
        ['/csmt/root?limit=1', 'USAGE', 'limit'],
      ];
      for (const [path, code, field] of wrong) {
        const { body } = await world.get<Problem>(path);
        assert.deepEqual([body.code, body.field], [code, field], path);
      }
      const lost = await world.get<Problem>('/csmt/root?at=height:999');
      assert.equal(lost.body.code, 'POINT_UNKNOWN');
      await world.close();
    });

    test('a set that is too large for one proof is refused with the number', () => {
      const world = open(5);
      world.forward(20);
      const { network, projections } = world;
      const lease = world.reads.lease();
      const prover = new Prover(lease.query, lease.query, { network, projections });
      const unspent = world.tip.entries.filter(({ name }) => !world.tip.spent.has(name));
      const owners = Map.groupBy(unspent, ({ addressText }) => addressText);
      const [text, mine] = [...owners].sort(([, a], [, b]) => b.length - a.length)[0];
      assert.ok(mine.length > 2);
      const owner = network.dialect.owner(text);
      assert.equal(prover.address(owner, mine.length).claim.outputs.length, mine.length);
      assert.throws(
        () => prover.address(owner, mine.length - 1),
        (error) =>
          isUnspentError(error, 'LIMIT') && error.meta['limit'] === mine.length - 1 && error.message.includes(`${mine.length - 1}`),
      );
      lease.release();
      return world.close();
    });
  });
}

/** What was answered, changed a little: nobody who knows the root believes anything new. */
function assertNoForgery({ documents }: Walk): void {
  const dice = new Dice();
  let refused = 0;
  for (let i = 0; i < MUTANTS; i++) {
    const { json, trusted } = dice.pick(documents);
    const { cbor: _, ...bare } = json;
    let changed: ProofDocument;
    try {
      changed = documentFromJson(spoil(dice.chance(2) ? json : bare, dice));
    } catch (error) {
      assert.ok(isUnspentError(error, 'USAGE'), String(error));
      refused++;
      continue;
    }
    if (!verifyDocument(changed, trusted).ok) refused++;
    else assert.deepEqual(believed(changed), believed(documentFromJson(json)), `seed ${dice.seed}, mutant ${i}`);
  }
  assert.ok(refused > 0.8 * MUTANTS, `${refused} of ${MUTANTS} were refused`);
}

/** The claim without what may be left out or reordered. */
function believed({ kind, claim }: ProofDocument): readonly string[] {
  const { address: _, outputs = [], ...rest } = claim as { address?: unknown; outputs?: readonly object[] };
  const text = (value: unknown): string => JSON.stringify(value, (_name, part) => (part instanceof Uint8Array ? toHex(part) : part));
  return [kind, text(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))), ...outputs.map(text).sort()];
}
