/**
 * What the server should answer at each block a chain ever had, lost forks
 * included: frozen when the block was mined, so that an answer can be held
 * against the very point it names, whatever happened since.
 */
import assert from 'node:assert/strict';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import type { KeyKind } from '../../src/ledgers/ledger.ts';
import type { IndexKind } from '../../src/projections/index/by-key.ts';
import type { BalanceJson, UtxoJson } from '../../src/query/json.ts';
import { toHex } from '../../src/util/bytes.ts';
import { balanceOf, ChainModel, indexKeys } from '../query/model.ts';
import type { Devnet } from '../support/harness.ts';

interface Spender {
  readonly txId: string;
  readonly height: number;
  readonly slot: number;
}

/** One block, and all that was true after it. */
export class Frozen {
  readonly hash: string;
  readonly height: number;
  readonly slot: number;
  readonly parent: Frozen | null;
  readonly txs: readonly string[];
  /** In the order they came to the chain. */
  readonly unspent: readonly ModelUtxo[];
  readonly byName: ReadonlyMap<string, ModelUtxo>;
  readonly spenders: ReadonlyMap<string, Spender>;
  /** Every output the chain ever had up to here. */
  readonly outputs: ReadonlyMap<string, ModelUtxo>;
  private readonly indexes = new Map<IndexKind, Map<string, ModelUtxo[]>>();

  constructor(model: ChainModel, number: number, parent: Frozen | null) {
    const block = model.blocks[number];
    this.hash = toHex(block.hash);
    this.height = block.height;
    this.slot = block.slot;
    this.parent = parent;
    this.txs = block.txs.map(({ id }) => id);
    this.byName = new Map(model.unspentAt(number));
    this.unspent = [...this.byName.values()].sort((a, b) => model.inOrder(a, b));
    const spent = block.txs.flatMap(({ id, spends }) =>
      spends.map(({ key }) => [key, { txId: id, height: block.height, slot: block.slot }] as const),
    );
    this.spenders = new Map([...(parent?.spenders ?? []), ...spent]);
    const created = block.txs.flatMap(({ creates }) => creates).map((utxo) => [utxo.key, utxo] as const);
    this.outputs = new Map([...(parent?.outputs ?? model.devnet.genesis.map((utxo) => [utxo.key, utxo] as const)), ...created]);
  }

  /** Outputs with this key, in the order they came. */
  having(kind: IndexKind, key: string): readonly ModelUtxo[] {
    let index = this.indexes.get(kind);
    if (index === undefined) {
      index = new Map();
      for (const utxo of this.unspent) for (const each of indexKeys(utxo, kind)) index.set(each, [...(index.get(each) ?? []), utxo]);
      this.indexes.set(kind, index);
    }
    return index.get(key) ?? [];
  }
}

/** All blocks there ever were, by hash. */
export class Frozens {
  readonly byHash = new Map<string, Frozen>();
  private readonly devnet: Devnet;

  constructor(devnet: Devnet) {
    this.devnet = devnet;
    this.look();
  }

  /** Takes in the blocks that are new. */
  look(): void {
    const model = new ChainModel(this.devnet);
    let parent: Frozen | null = null;
    for (const [number, block] of model.blocks.entries()) {
      const known: Frozen | undefined = this.byHash.get(toHex(block.hash));
      parent = known ?? new Frozen(model, number, parent);
      this.byHash.set(parent.hash, parent);
    }
  }

  get tip(): Frozen {
    return this.at(toHex(this.devnet.chain.tip!.hash));
  }

  at(hash: string): Frozen {
    const frozen = this.byHash.get(hash);
    assert.ok(frozen !== undefined, `an answer names block ${hash}, which there never was`);
    return frozen;
  }
}

export const nameOf = ({ tx_hash, output_index }: UtxoJson): string => `${tx_hash}#${output_index}`;

/** Rows are these outputs, in this order, in every particular that the model knows. */
export function assertRows(rows: readonly UtxoJson[], wanted: readonly ModelUtxo[], what: string): void {
  assert.deepEqual(
    rows.map(nameOf),
    wanted.map(({ key }) => key),
    what,
  );
  for (const [i, utxo] of wanted.entries()) assertRow(rows[i], utxo, what);
}

export function assertRow(row: UtxoJson, utxo: ModelUtxo, what: string): void {
  assert.equal(nameOf(row), utxo.key, what);
  assert.equal(row.lovelace_amount, utxo.lovelace.toString(), what);
  const amounts = row.amounts.slice(1).map(({ policy_id, asset_name, quantity }) => `${policy_id}.${asset_name} ${quantity}`);
  assert.deepEqual(amounts.sort(), [...utxo.assets].map(([asset, quantity]) => `${asset} ${quantity}`).sort(), what);
  if (utxo.height >= 0) assert.deepEqual([row.block, row.slot], [utxo.height, utxo.slot], what);
}

export function assertSpending(row: UtxoJson, spender: Spender | undefined, what: string): void {
  const told =
    row.spent_tx_hash === undefined ? undefined : { txId: row.spent_tx_hash, height: row.spent_at_block, slot: row.spent_at_slot };
  assert.deepEqual(told, spender, what);
}

export function assertBalanceJson(json: BalanceJson, utxos: readonly ModelUtxo[], what: string): void {
  const { assets, value } = balanceOf(utxos);
  const wanted = assets.map(({ policy, name, quantity }) => `${toHex(policy)}.${toHex(name)} ${quantity}`);
  assert.equal(json.utxo_count, utxos.length, what);
  assert.equal(json.lovelace_amount, value.toString(), what);
  assert.deepEqual(
    json.amounts.slice(1).map(({ policy_id, asset_name, quantity }) => `${policy_id}.${asset_name} ${quantity}`),
    wanted,
    what,
  );
}

/** A key of that kind which some output of the chain has, or had. */
export function someKey(utxos: readonly ModelUtxo[], kind: IndexKind | KeyKind, pick: (count: number) => number): string | null {
  for (let tries = 0; tries < 20; tries++) {
    const keys = indexKeys(utxos[pick(utxos.length)], kind);
    if (keys.length > 0) return keys[pick(keys.length)];
  }
  return null;
}
