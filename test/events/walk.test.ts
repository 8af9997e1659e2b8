/**
 * A random walk over every route while blocks arrive, roll back and are pruned
 * between and under the requests. Each answer names the block it is at; it must
 * be, in full, what the devnet's own model says of that block, and what the
 * OpenAPI document says such an answer looks like.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { describeOutput } from '../../src/ledgers/cardano/index.ts';
import type { BalanceJson, UtxoJson } from '../../src/query/json.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { TEST_SEED } from '../support/harness.ts';
import { type Answer, Served } from '../support/served.ts';
import { assertBalanceJson, assertRow, assertRows, assertSpending, type Frozen, Frozens, nameOf, someKey } from './walk-model.ts';

/** Chains, one after the other: one that has moved for long is mostly blocks that were undone, which RocksDB still steps over. */
const CHAINS = 8;
const REQUESTS_PER_CHAIN = 2_500;
/** Requests on their way at once; a move comes between their parts. */
const TOGETHER = 25;
const CHAIN_BLOCKS_MAX = 120;

type Ask = (walk: Walk) => Promise<void>;

class Walk {
  readonly served: Served;
  readonly random: Random;
  readonly frozens: Frozens;
  readonly counts = new Map<string, number>();
  /** Answers at a block that was no longer the tip when they came. */
  late = 0;

  constructor(served: Served, random: Random) {
    this.served = served;
    this.random = random;
    this.frozens = new Frozens(served.devnet);
  }

  readonly pick = (below: number): number => this.random.int(below);

  get tip(): Frozen {
    return this.frozens.tip;
  }

  /** Asks, and gives the block the answer is at. */
  async ask(path: string, kind: string): Promise<{ answer: Answer; at: Frozen }> {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    const answer = await this.served.get(path);
    return { answer, at: this.pointOf(answer, path) };
  }

  pointOf(answer: Answer, path: string): Frozen {
    assert.ok(answer.point !== null, `${path} names no block: ${answer.status} ${answer.text.slice(0, 200)}`);
    const at = this.frozens.at(answer.point.hash);
    assert.deepEqual([answer.point.height, answer.point.slot], [at.height, at.slot]);
    if (at !== this.frozens.tip) this.late++;
    return at;
  }

  /** An earlier block of the present chain, and how to name it. */
  past(): { readonly frozen: Frozen; readonly name: string } {
    let frozen = this.tip;
    for (let steps = this.pick(30); steps > 0 && frozen.parent !== null; steps--) frozen = frozen.parent;
    const names = [`slot:${frozen.slot}`, `height:${frozen.height}`, frozen.hash, String(frozen.slot)];
    return { frozen, name: names[this.pick(names.length)] };
  }

  move(): void {
    const { served } = this;
    const length = served.devnet.chain.blocks.length;
    const what = this.pick(10);
    if (what < 3 || length > CHAIN_BLOCKS_MAX) served.back(1 + this.pick(Math.min(12, length - 20)));
    if (what < 9) served.forward(1 + this.pick(what < 7 ? 3 : 20), [1 + this.pick(5)]);
    this.frozens.look();
  }
}

/** Unspent outputs by a key: `path` from the key in hex. */
function listed(kind: 'payment' | 'stake' | 'policy' | 'script', path: (key: string) => string): Ask {
  return async (walk) => {
    const key = someKey([...walk.tip.outputs.values()], kind, walk.pick);
    if (key === null) return;
    const url = path(key);
    const { answer, at } = await walk.ask(`${url}?limit=1000`, url.split('/')[1]);
    assertRows(answer.json<UtxoJson[]>(), at.having(kind, key), `${url} at ${at.height}`);
  };
}

const someOutput = (walk: Walk) => {
  const outputs = [...walk.tip.outputs.values()];
  return outputs[walk.pick(outputs.length)];
};

const ASKS: readonly Ask[] = [
  async (walk) => {
    const { addressHex } = someOutput(walk);
    const order = walk.pick(2) === 0 ? 'asc' : 'desc';
    const { answer, at } = await walk.ask(`/addresses/${addressHex}/utxos?limit=1000&order=${order}`, 'address');
    const wanted = at.unspent.filter((utxo) => utxo.addressHex === addressHex);
    assertRows(answer.json<UtxoJson[]>(), order === 'asc' ? wanted : [...wanted].reverse(), `${addressHex} at ${at.height}`);
  },
  async (walk) => {
    const { addressHex } = someOutput(walk);
    const { answer, at } = await walk.ask(`/addresses/${addressHex}/balance`, 'balance');
    assertBalanceJson(
      answer.json<BalanceJson>(),
      at.unspent.filter((utxo) => utxo.addressHex === addressHex),
      `balance of ${addressHex} at ${at.height}`,
    );
  },
  async (walk) => {
    const key = someKey([...walk.tip.outputs.values()], 'stake', walk.pick);
    if (key === null) return;
    const { answer, at } = await walk.ask(`/stake/${key}/balance`, 'stake balance');
    assertBalanceJson(answer.json<BalanceJson>(), at.having('stake', key), `balance of stake ${key} at ${at.height}`);
  },
  listed('payment', (key) => `/credentials/${key}/utxos`),
  listed('stake', (key) => `/stake/${key}/utxos`),
  listed('policy', (key) => `/policies/${key}/utxos`),
  listed('script', (key) => `/scripts/${key}/utxos`),
  async (walk) => {
    const utxo = [...walk.tip.unspent].filter(({ assets }) => assets.size > 0);
    if (utxo.length === 0) return;
    const [asset] = utxo[walk.pick(utxo.length)].assets.keys();
    const unit = asset.replace('.', '');
    const key = toHex(blake2b224(fromHex(unit)));
    const { answer, at } = await walk.ask(`/assets/${unit}/utxos?limit=1000`, 'asset');
    assertRows(answer.json<UtxoJson[]>(), at.having('asset', key), `${unit} at ${at.height}`);
    const { addressHex } = utxo[walk.pick(utxo.length)];
    const both = await walk.ask(`/addresses/${addressHex}/utxos/${unit}?limit=1000`, 'asset of address');
    const wanted = both.at.having('asset', key).filter((each) => each.addressHex === addressHex);
    assertRows(both.answer.json<UtxoJson[]>(), wanted, `${unit} of ${addressHex} at ${both.at.height}`);
  },
  async (walk) => {
    const { key, txId, index } = someOutput(walk);
    const { answer, at } = await walk.ask(`/utxos/${toHex(txId)}/${index}`, 'outpoint');
    const known = at.outputs.get(key);
    assert.equal(answer.status, known === undefined ? 404 : 200, `${key} at ${at.height}`);
    if (known === undefined) return;
    assertRow(answer.json<UtxoJson>(), known, key);
    assertSpending(answer.json<UtxoJson>(), at.spenders.get(key), `${key} at ${at.height}`);
  },
  async (walk) => {
    const wanted = Array.from({ length: 1 + walk.pick(12) }, () => someOutput(walk));
    walk.counts.set('batch', (walk.counts.get('batch') ?? 0) + 1);
    const answer = await walk.served.post(
      '/utxos',
      wanted.map(({ key }) => key),
    );
    const at = walk.pointOf(answer, 'POST /utxos');
    for (const [i, row] of answer.json<(UtxoJson | null)[]>().entries()) {
      const known = at.outputs.get(wanted[i].key);
      assert.equal(row === null, known === undefined, `${wanted[i].key} at ${at.height}`);
      if (row !== null) assertSpending(row, at.spenders.get(wanted[i].key), wanted[i].key);
    }
  },
  async (walk) => {
    const { txId } = someOutput(walk);
    const { answer, at } = await walk.ask(`/txs/${toHex(txId)}/utxos`, 'tx');
    const wanted = [...at.outputs.values()].filter((utxo) => toHex(utxo.txId) === toHex(txId)).sort((a, b) => a.index - b.index);
    assert.equal(answer.status, wanted.length === 0 && !isMined(at, toHex(txId)) ? 404 : 200);
    if (answer.status === 200) assertRows(answer.json<UtxoJson[]>(), wanted, `${toHex(txId)} at ${at.height}`);
  },
  async (walk) => {
    const seen = [...walk.tip.outputs.values()].map((utxo) => ({ utxo, ...describeOutput(utxo.output) }));
    const having = seen.filter(({ inlineDatum, datumHash, scriptRef }) => inlineDatum ?? datumHash ?? scriptRef);
    if (having.length === 0) return;
    const { utxo, inlineDatum, datumHash, scriptHash, scriptRef } = having[walk.pick(having.length)];
    const hash = inlineDatum === null ? datumHash : blake2b256(inlineDatum);
    if (hash !== null) {
      const { answer, at } = await walk.ask(`/datums/${toHex(hash)}/utxos?limit=1000`, 'holders of a datum');
      assertRows(answer.json<UtxoJson[]>(), at.having('datum', toHex(hash).slice(0, 56)), `datum ${toHex(hash)} at ${at.height}`);
    }
    if (inlineDatum !== null && hash !== null) await seenAs(walk, `/datums/${toHex(hash)}`, utxo.key, inlineDatum);
    if (scriptHash !== null && scriptRef !== null) await seenAs(walk, `/scripts/${toHex(scriptHash)}`, utxo.key, scriptRef);
  },
  async (walk) => {
    const { answer, at } = await walk.ask('/blocks/latest', 'latest');
    assert.equal(answer.json<{ hash: string }>().hash, at.hash);
  },
  async (walk) => {
    const { frozen } = walk.past();
    // Here a bare number is a height.
    const name = [`slot:${frozen.slot}`, `height:${frozen.height}`, frozen.hash, String(frozen.height)][walk.pick(4)];
    const { answer, at } = await walk.ask(`/blocks/${name}`, 'block');
    if (answer.status === 404) return assert.ok(!isAncestor(frozen, at) || frozen.height > at.height);
    const { hash } = answer.json<{ hash: string }>();
    if (name === frozen.hash) assert.equal(hash, frozen.hash);
    else assert.ok(isAncestor(walk.frozens.at(hash), at), `block ${hash} is on the chain of ${at.hash}`);
  },
  async (walk) => {
    const { name } = walk.past();
    const { addressHex } = someOutput(walk);
    const { answer, at } = await walk.ask(`/addresses/${addressHex}/utxos?limit=1000&at=${name}`, 'address in the past');
    if (answer.status !== 200) return assertLost(answer);
    assertRows(
      answer.json<UtxoJson[]>(),
      at.unspent.filter((utxo) => utxo.addressHex === addressHex),
      `${addressHex} at ${name}`,
    );
  },
  async (walk) => {
    const { name } = walk.past();
    const { key, txId, index } = someOutput(walk);
    const { answer, at } = await walk.ask(`/utxos/${toHex(txId)}/${index}?at=${name}`, 'outpoint in the past');
    const known = at.outputs.get(key);
    if (answer.status !== 200) return known === undefined ? undefined : assertLost(answer);
    assert.ok(known !== undefined, `${key} at ${name}`);
    assertSpending(answer.json<UtxoJson>(), at.spenders.get(key), `${key} at ${name}`);
  },
  pages,
];

/** A datum or script by its hash: what the output carries, once the chain has that output. */
async function seenAs(walk: Walk, path: string, key: string, bytes: Uint8Array): Promise<void> {
  const { answer, at } = await walk.ask(path, path.split('/')[1].slice(0, -1));
  if (at.outputs.has(key)) assert.equal(answer.status, 200, `${path} at ${at.height}`);
  if (answer.status === 200) assert.equal(answer.json<{ cbor: string }>().cbor, toHex(bytes), path);
}

/** Page after page while the chain moves: what was there all the time is seen once, and nothing twice. */
async function pages(walk: Walk): Promise<void> {
  const { addressHex } = someOutput(walk);
  const start = walk.tip;
  const seen: string[] = [];
  const during: Frozen[] = [];
  let after = '';
  for (;;) {
    const { answer, at } = await walk.ask(`/addresses/${addressHex}/utxos?limit=${2 + walk.pick(5)}${after}`, 'page');
    if (answer.status === 409) return;
    during.push(at);
    seen.push(...answer.json<UtxoJson[]>().map(nameOf));
    const next = answer.headers['x-next-after'];
    if (next === undefined) break;
    after = `&after=${next}`;
    if (walk.pick(4) === 0) walk.move();
  }
  assert.equal(new Set(seen).size, seen.length, 'no row comes twice');
  // A rollback may take back what was seen and bring it anew: then only repeats are excluded.
  if (!during.every((at, i) => isAncestor(i === 0 ? start : during[i - 1], at))) return;
  const stayed = start.unspent.filter(({ key, addressHex: address }) => address === addressHex && during.every((at) => at.byName.has(key)));
  for (const { key } of stayed) assert.ok(seen.includes(key), `${key} was there all the time and was not seen`);
}

function isAncestor(older: Frozen, newer: Frozen): boolean {
  for (let at: Frozen | null = newer; at !== null; at = at.parent) if (at === older) return true;
  return false;
}

function isMined(at: Frozen, txId: string): boolean {
  for (let block: Frozen | null = at; block !== null; block = block.parent) if (block.txs.includes(txId)) return true;
  return false;
}

/** A past that was rolled back between choosing it and asking for it. */
function assertLost(answer: Answer): void {
  assert.equal(answer.status, 404, answer.text);
  assert.ok(['POINT_UNKNOWN', 'NOT_FOUND'].includes(answer.json<{ code: string }>().code), answer.text);
}

test('every answer is the model at the block it names', async (t) => {
  const counts = new Map<string, number>();
  let late = 0;
  for (let chain = 0; chain < CHAINS; chain++) {
    const walk = await walkOneChain(TEST_SEED + chain);
    for (const [kind, count] of walk.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
    late += walk.late;
  }
  t.diagnostic(`${sumOf(counts)} requests, ${late} at a block already left, ${JSON.stringify(Object.fromEntries(counts))}`);
  assert.ok(late > 100, 'the chain moved under some of the requests');
  assert.equal(counts.size, ASKS.length + 3, `every kind of request was made: ${[...counts.keys()]}`);
});

async function walkOneChain(seed: number): Promise<Walk> {
  const served = await Served.open({ seed, blocks: 40, engine: 'rocks' });
  const walk = new Walk(served, new Random(seed));
  while (sumOf(walk.counts) < REQUESTS_PER_CHAIN) {
    const asked = Array.from({ length: TOGETHER }, () => ASKS[walk.pick(ASKS.length)](walk));
    if (walk.pick(3) > 0) await new Promise((resolve) => setImmediate(resolve));
    walk.move();
    await Promise.all(asked);
  }
  await served.close();
  return walk;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
