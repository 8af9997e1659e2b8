/**
 * What a query should answer for any block of a devnet's chain, worked out from
 * the producer's model: index keys, balances and spenders are written here a
 * second time and share no code with the projections or the queries.
 */
import assert from 'node:assert/strict';
import type { DevnetBlock } from '../../src/chains/cardano/devnet/index.ts';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { describeOutput } from '../../src/ledgers/cardano/index.ts';
import { KEY_KINDS, type KeyKind } from '../../src/ledgers/ledger.ts';
import { INDEX_KINDS, type IndexKind } from '../../src/projections/index/by-key.ts';
import type { Utxo } from '../../src/query/query.ts';
import type { Balance, ChainView } from '../../src/query/view.ts';
import { equalBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { Expected, keysOf } from '../support/expected.ts';
import type { Devnet } from '../support/harness.ts';

const ERA_SHELLEY = 2;
const ERA_ALLEGRA = 3;

export const nameOf = ({ txId, index }: { txId: Uint8Array; index: number }): string => `${toHex(txId)}#${index}`;

/** Every key of a kind that an output has, in hex. Outputs of the model never change, so each is read once. */
const known = new WeakMap<ModelUtxo, Map<IndexKind, readonly string[]>>();

export function indexKeys(utxo: ModelUtxo, kind: IndexKind): readonly string[] {
  const kinds = known.get(utxo) ?? new Map<IndexKind, readonly string[]>();
  known.set(utxo, kinds);
  const keys = kinds.get(kind) ?? findKeys(utxo, kind);
  kinds.set(kind, keys);
  return keys;
}

function findKeys(utxo: ModelUtxo, kind: IndexKind): string[] {
  if (kind === 'address' || kind === 'payment' || kind === 'stake') {
    const key = keysOf(utxo)[kind];
    return key === undefined ? [] : [toHex(key)];
  }
  const assets = [...utxo.assets.keys()];
  if (kind === 'policy') return [...new Set(assets.map((asset) => asset.slice(0, asset.indexOf('.'))))];
  if (kind === 'asset') return assets.map((asset) => toHex(blake2b224(fromHex(asset.replace('.', '')))));
  const { datumHash, inlineDatum, scriptHash } = describeOutput(utxo.output);
  if (kind === 'script') return scriptHash === null ? [] : [toHex(scriptHash)];
  const hash = inlineDatum === null ? datumHash : blake2b256(inlineDatum);
  return hash === null ? [] : [toHex(hash).slice(0, 56)];
}

/** Where an output ended: by whom, and in which block of the chain. */
interface Ended {
  readonly by: string | null;
  readonly input: number;
  readonly block: DevnetBlock;
  /** Of the block, in the chain. */
  readonly number: number;
}

/** The present chain of a devnet, at every block of it. Made anew after the chain has moved. */
export class ChainModel {
  readonly devnet: Devnet;
  readonly blocks: readonly DevnetBlock[];
  /** Every output the chain ever had, genesis first. */
  readonly outputs: readonly ModelUtxo[];
  private readonly expected: Expected;
  private readonly ends = new Map<string, Ended>();
  private readonly numbers = new Map<string, number>();
  private last: { readonly number: number; readonly unspent: ReadonlyMap<string, ModelUtxo> } | null = null;

  constructor(devnet: Devnet) {
    this.devnet = devnet;
    this.blocks = [...devnet.chain.blocks];
    this.expected = new Expected(devnet);
    this.outputs = [...devnet.genesis, ...this.blocks.flatMap(({ txs }) => txs.flatMap(({ creates }) => creates))];
    for (const utxo of devnet.genesis) this.numbers.set(utxo.key, 0);
    for (const [number, block] of this.blocks.entries()) {
      for (const tx of block.txs) {
        for (const utxo of tx.creates) this.numbers.set(utxo.key, number);
        for (const [input, utxo] of tx.spends.entries()) this.ends.set(utxo.key, { by: tx.id, input, block, number });
      }
    }
    for (const utxo of this.expected.dropped()) {
      const era = utxo.lovelace === 0n ? ERA_SHELLEY : ERA_ALLEGRA;
      const number = this.blocks.findIndex((block) => block.era >= era);
      this.ends.set(utxo.key, { by: null, input: 0xffff_ffff, block: this.blocks[number], number });
    }
  }

  /** Number of the block at or before that slot; -1: none. */
  numberAtSlot(slot: number): number {
    return this.blocks.findLastIndex((block) => block.slot <= slot);
  }

  /** What was unspent after block `number`. The last answer is kept: a view is asked for many things in turn. */
  unspentAt(number: number): ReadonlyMap<string, ModelUtxo> {
    if (number < 0) return new Map();
    if (this.last?.number !== number) this.last = { number, unspent: this.devnet.chain.utxosAt(number + 1) };
    return this.last.unspent;
  }

  /** Every key of a kind with the outputs it had after block `number`, in the order they came to the chain. */
  indexAt(number: number, kind: IndexKind): Map<string, ModelUtxo[]> {
    const index = new Map<string, ModelUtxo[]>();
    for (const utxo of this.unspentAt(number).values()) {
      for (const key of indexKeys(utxo, kind)) index.set(key, [...(index.get(key) ?? []), utxo]);
    }
    for (const utxos of index.values()) utxos.sort((a, b) => this.inOrder(a, b));
    return index;
  }

  inOrder(a: ModelUtxo, b: ModelUtxo): number {
    const [left, right] = [this.expected.where(a), this.expected.where(b)];
    return left.slot - right.slot || left.txIndex - right.txIndex || a.index - b.index;
  }

  /** Checks an answer about one output after block `number`. `forgotten`: up to this height spent outputs may be gone. */
  checkOutput(found: Utxo | null, utxo: ModelUtxo, number: number, forgotten = -1): void {
    const created = this.numbers.get(utxo.key)!;
    if (created > number) {
      assert.equal(found, null, `${utxo.key} came later than block ${number}`);
      return;
    }
    const end = this.ends.get(utxo.key);
    const isSpent = end !== undefined && end.number <= number;
    if (isSpent && end.block.height <= forgotten) {
      assert.equal(found, null, `${utxo.key} was spent and forgotten`);
      return;
    }
    assert.ok(found !== null, `${utxo.key} is known after block ${number}`);
    this.checkStored(found, utxo);
    if (!isSpent) {
      assert.equal(found.spent, null, `${utxo.key} is unspent after block ${number}`);
      return;
    }
    const { txId, input, slot, height } = found.spent!;
    const by = txId === null ? null : toHex(txId);
    assert.deepEqual([by, input, slot, height], [end.by, end.input, end.block.slot, end.block.height], utxo.key);
  }

  checkStored({ txId, index, output }: Utxo, utxo: ModelUtxo): void {
    assert.equal(nameOf({ txId, index }), utxo.key);
    const { height, slot, txIndex, flags } = this.expected.where(utxo);
    const place = `height ${output.height}, slot ${output.slot}, transaction ${output.txIndex}, flags ${output.flags}`;
    assert.equal(place, `height ${height}, slot ${slot}, transaction ${txIndex}, flags ${flags}`, utxo.key);
    assert.equal(output.value, utxo.lovelace);
    assert.ok(equalBytes(output.raw, utxo.output), `the bytes of ${utxo.key}`);
  }
}

export function balanceOf(utxos: readonly ModelUtxo[]): Balance {
  const assets = new Map<string, bigint>();
  for (const utxo of utxos) for (const [asset, quantity] of utxo.assets) assets.set(asset, (assets.get(asset) ?? 0n) + quantity);
  const unit = (asset: string) => asset.replace('.', '');
  return {
    utxos: utxos.length,
    value: utxos.reduce((sum, { lovelace }) => sum + lovelace, 0n),
    assets: [...assets]
      .sort(([a], [b]) => (unit(a) < unit(b) ? -1 : 1))
      .map(([asset, quantity]) => {
        const [policy, name] = asset.split('.');
        return { policy: fromHex(policy), name: fromHex(name), quantity };
      }),
  };
}

export function assertBalance(actual: Balance, expected: Balance, what: string): void {
  const text = ({ utxos, value, assets }: Balance) => [
    `${utxos} ${value}`,
    ...assets.map(({ policy, name, quantity }) => `${toHex(policy)}.${toHex(name)} ${quantity}`),
  ];
  assert.deepEqual(text(actual), text(expected), what);
}

/** Everything a view of block `number` can be asked, against the model. */
export function assertViewIs(
  view: ChainView,
  model: ChainModel,
  number: number,
  { kinds = INDEX_KINDS, forgotten = -1 }: { kinds?: readonly IndexKind[]; forgotten?: number } = {},
): void {
  const block = model.blocks[number];
  assert.deepEqual(
    view.head && [view.head.height, view.head.slot, toHex(view.head.hash)],
    block === undefined ? null : [block.height, block.slot, toHex(block.hash)],
  );
  for (const utxo of model.outputs) model.checkOutput(view.outpoint(utxo.txId, utxo.index), utxo, number, forgotten);
  for (const kind of kinds) checkIndex(view, model, number, kind);
  checkTxs(view, model, number, forgotten);
}

function checkIndex(view: ChainView, model: ChainModel, number: number, kind: IndexKind): void {
  const now = model.indexAt(number, kind);
  const ever = new Set(model.outputs.flatMap((utxo) => indexKeys(utxo, kind)));
  for (const key of ever) {
    const wanted = now.get(key) ?? [];
    const found = [...view.byKey(kind, fromHex(key))];
    assert.deepEqual(
      found.map(nameOf),
      wanted.map((utxo) => utxo.key),
      `${kind} ${key} after block ${number}`,
    );
    for (const [i, utxo] of wanted.entries()) {
      model.checkStored(found[i], utxo);
      assert.equal(found[i].spent, null);
    }
    if ((KEY_KINDS as readonly string[]).includes(kind)) {
      assertBalance(view.balance(kind as KeyKind, fromHex(key)), balanceOf(wanted), `balance of ${kind} ${key} after block ${number}`);
    }
  }
}

function checkTxs(view: ChainView, model: ChainModel, number: number, forgotten: number): void {
  for (const [at, { txs, height }] of model.blocks.entries()) {
    for (const [txIndex, { id, valid, creates }] of txs.entries()) {
      const { row, outputs } = view.tx(fromHex(id));
      assert.deepEqual(row, at > number ? null : { height, txIndex, valid });
      const byIndex = new Map(outputs.map((utxo) => [utxo.index, utxo]));
      assert.equal(byIndex.size, outputs.length);
      for (const utxo of creates) model.checkOutput(byIndex.get(utxo.index) ?? null, utxo, number, forgotten);
      assert.ok(outputs.every((utxo, i) => i === 0 || utxo.index > outputs[i - 1].index));
      assert.ok(outputs.every(({ index }) => creates.some((utxo) => utxo.index === index)));
    }
  }
}
