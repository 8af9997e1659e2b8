/**
 * What a store should hold, worked out from the devnet's own model: stored
 * values, index keys and histories are written here a second time, from the
 * documented layouts and CIP-19, and share no code with the projections.
 */
import assert from 'node:assert/strict';
import { base58, base64url } from '@scure/base';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { TRAIT_KINDS, type TraitKind } from '../../src/projections/index/by-key.ts';
import { digestOf } from '../../src/query/digest.ts';
import { type PrunedHeights, readPruned } from '../../src/state/pruned.ts';
import { balanceRows, seenRows, traitKeysOf } from './expected-traits.ts';
import { assertSameRows, type Devnet, type Rig, rowsOf } from './harness.ts';

const HASH_BYTES = 28;
const FLAG_COLLATERAL_RETURN = 1;
const FLAG_GENESIS = 2;
const GRANT_TX_INDEX = 0x8000_0000;
const ERA_SHELLEY = 2;
const ERA_ALLEGRA = 3;
/** Up to here a chain row is the block's own; behind it stands the issuer, of which the producer does not tell. */
const CHAIN_ROW_HEX = 2 * 81;

interface AddressKeys {
  readonly address: Uint8Array;
  readonly payment?: Uint8Array;
  readonly stake?: Uint8Array;
}

/** CIP-19: types 0 to 3 carry a payment and a stake credential, 4 to 7 a payment credential, 8 (Byron) neither. */
export function addressKeys(bytes: Uint8Array): AddressKeys {
  const address = blake2b224(bytes);
  const type = bytes[0] >> 4;
  if (type >= 8) return { address };
  const payment = bytes.slice(1, 1 + HASH_BYTES);
  return type >= 4 ? { address, payment } : { address, payment, stake: bytes.slice(1 + HASH_BYTES, 1 + 2 * HASH_BYTES) };
}

/** A devnet has few addresses; each is hashed once. */
const known = new Map<string, AddressKeys>();

export function keysOf({ addressHex }: ModelUtxo): AddressKeys {
  const keys = known.get(addressHex) ?? addressKeys(Buffer.from(addressHex, 'hex'));
  known.set(addressHex, keys);
  return keys;
}

const unsigned = (value: number | bigint, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
const hex = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length).toString('hex');

/** The model's outputs never change, and every row of a store is compared after every block: what is long in a row is written once. */
interface Written {
  readonly txId: string;
  readonly outpoint: string;
  /** Of a stored value, all but flags, height, slot and place in the block, which stand before it. */
  readonly tail: string;
  /** Which kinds of keys it has. */
  readonly mask: number;
}

const written = new WeakMap<ModelUtxo, Written>();

function writtenOf(utxo: ModelUtxo): Written {
  const found = written.get(utxo) ?? write(utxo);
  written.set(utxo, found);
  return found;
}

function write(utxo: ModelUtxo): Written {
  const { payment, stake } = keysOf(utxo);
  const [txId, output] = [hex(utxo.txId), hex(utxo.output)];
  // The hash of the address is left out; the credentials are named by their place in the output.
  const addressAt = output.indexOf(utxo.addressHex) / 2;
  const places = `ff${payment ? unsigned(addressAt + 1, 1) : ''}${stake ? unsigned(addressAt + 1 + HASH_BYTES, 1) : ''}`;
  return {
    txId,
    outpoint: txId + unsigned(utxo.index, 4),
    tail: unsigned(utxo.lovelace, 8) + places + output,
    mask: 1 | (payment ? 2 : 0) | (stake ? 4 : 0),
  };
}

export function outpointHex(utxo: ModelUtxo): string {
  return writtenOf(utxo).outpoint;
}

type Where = { readonly height: number; readonly slot: number; readonly txIndex: number; readonly flags: number };

/** The state a devnet's chain adds up to, as rows of hex. */
export class Expected {
  private readonly devnet: Devnet;
  private readonly grantPlace: ReadonlyMap<string, number>;
  private readonly returned: ReadonlySet<string>;

  constructor(devnet: Devnet) {
    this.devnet = devnet;
    this.grantPlace = grantPlaces(devnet);
    const invalid = devnet.chain.blocks.flatMap(({ txs }) => txs.filter((tx) => !tx.valid));
    this.returned = new Set(invalid.flatMap((tx) => tx.creates.map(({ key }) => key)));
  }

  /** Where an output came to the chain. What genesis granted came with the first block. */
  where(utxo: ModelUtxo): Where {
    const place = this.grantPlace.get(utxo.key);
    if (place === undefined) {
      const { height, slot, txIndex } = utxo;
      return { height, slot, txIndex, flags: this.returned.has(utxo.key) ? FLAG_COLLATERAL_RETURN : 0 };
    }
    const [{ height, slot }] = this.devnet.chain.blocks;
    return { height, slot, txIndex: GRANT_TX_INDEX + place, flags: FLAG_GENESIS };
  }

  stored(utxo: ModelUtxo): string {
    const { height, slot, txIndex, flags } = this.where(utxo);
    const { tail, mask } = writtenOf(utxo);
    return unsigned(flags | (mask << 5), 1) + unsigned(height, 4) + unsigned(slot, 8) + unsigned(txIndex, 4) + tail;
  }

  unspentRows(): string[] {
    return this.unspent()
      .map((utxo) => `${outpointHex(utxo)} ${this.stored(utxo)}`)
      .sort();
  }

  indexRows(kind: keyof AddressKeys): string[] {
    const rows: string[] = [];
    for (const utxo of this.unspent()) {
      const key = keysOf(utxo)[kind];
      const { slot, txIndex } = this.where(utxo);
      if (key) rows.push(`${hex(key)}${unsigned(slot, 8)}${unsigned(txIndex, 4)}${unsigned(utxo.index, 4)} `);
    }
    return rows.sort();
  }

  placeRows(): string[] {
    const rows = this.unspent().map((utxo) => {
      const { slot, txIndex } = this.where(utxo);
      return `${unsigned(slot, 8)}${unsigned(txIndex, 4)}${unsigned(utxo.index, 4)} ${writtenOf(utxo).txId}`;
    });
    return rows.sort();
  }

  traitRows(kind: TraitKind): string[] {
    const rows: string[] = [];
    for (const utxo of this.unspent()) {
      const { slot, txIndex } = this.where(utxo);
      const place = unsigned(slot, 8) + unsigned(txIndex, 4) + unsigned(utxo.index, 4);
      for (const key of traitKeysOf(utxo, kind)) rows.push(`${key}${place} `);
    }
    return rows.sort();
  }

  balanceRows(kind: 'address' | 'stake'): string[] {
    return balanceRows(this.unspent(), (utxo) => {
      const key = keysOf(utxo)[kind];
      return key === undefined ? undefined : hex(key);
    });
  }

  /** Who spent what, for blocks above a height. `carried`: what the outputs held is in the undo records. */
  spentRows(above: number, carried = false): string[] {
    const rows: string[] = [];
    const add = (utxo: ModelUtxo, txId: string, input: number, block: { slot: number; height: number }) => {
      const spent = txId + unsigned(input, 4) + unsigned(block.slot, 8) + unsigned(block.height, 4);
      if (block.height > above) rows.push(`${outpointHex(utxo)} ${spent}${carried ? '' : this.stored(utxo)}`);
    };
    const { blocks } = this.devnet.chain;
    for (const block of blocks) {
      for (const tx of block.txs) for (const [input, utxo] of tx.spends.entries()) add(utxo, tx.id, input, block);
    }
    for (const utxo of this.dropped()) {
      const era = utxo.lovelace === 0n ? ERA_SHELLEY : ERA_ALLEGRA;
      add(utxo, '00'.repeat(32), 0xffff_ffff, blocks.find((block) => block.era >= era)!);
    }
    return rows.sort();
  }

  /** Outputs that vanished without a transaction. */
  dropped(): ModelUtxo[] {
    const { chain, genesis } = this.devnet;
    const created = [...genesis, ...chain.blocks.flatMap(({ txs }) => txs.flatMap((tx) => tx.creates))];
    return created.filter(({ key }) => !chain.utxos.has(key) && chain.spentBy(key) === undefined);
  }

  txRows(): string[] {
    const txs = this.devnet.chain.blocks.flatMap(({ txs, height }) => txs.map((tx, i) => ({ ...tx, height, i })));
    return txs.map(({ id, height, i, valid }) => `${id} ${unsigned(height, 4)}${unsigned(i, 4)}${valid ? '00' : '01'}`).sort();
  }

  chainRows(): string[] {
    return this.devnet.chain.blocks.map((block) => {
      const { hash, prevHash, slot, era, txs } = block;
      const raw = this.devnet.rawOf(block);
      const link = hex(hash) + hex(prevHash ?? new Uint8Array(32)) + unsigned(slot, 8) + unsigned(era, 1);
      return `${chainKeyHex(block)} ${link}${unsigned(txs.length, 4)}${unsigned(raw.length, 4)}`;
    });
  }

  hashRows(): string[] {
    return this.devnet.chain.blocks.map((block) => `${hex(block.hash)} ${chainKeyHex(block)}`).sort();
  }

  deltaKeys(above: number): string[] {
    return this.devnet.chain.blocks.filter(({ height }) => height > above).map(chainKeyHex);
  }

  /** Before the first block not even genesis has happened. */
  private unspent(): ModelUtxo[] {
    return this.devnet.chain.blocks.length === 0 ? [] : [...this.devnet.chain.utxos.values()];
  }
}

function chainKeyHex({ height, boundary }: { readonly height: number; readonly boundary: boolean }): string {
  return unsigned(height, 8) + (boundary ? '01' : '');
}

const grants = new WeakMap<Devnet, ReadonlyMap<string, number>>();

/** Read once: genesis stays. */
function grantPlaces(devnet: Devnet): ReadonlyMap<string, number> {
  const places = grants.get(devnet) ?? findGrants(devnet);
  grants.set(devnet, places);
  return places;
}

/** Grants are numbered as the genesis files list them: Byron balances, redeem keys, Shelley funds. */
function findGrants({ chain, genesis }: Devnet): ReadonlyMap<string, number> {
  const { nonAvvmBalances, avvmDistr } = JSON.parse(chain.genesisByron) as Record<string, Record<string, string>>;
  const { initialFunds } = JSON.parse(chain.genesisShelley) as Record<string, Record<string, unknown>>;
  const byAddress = new Map(genesis.map((utxo) => [utxo.addressHex, utxo.key]));
  // A redeem address is a hash of its key; the devnet gives each key another amount.
  const byAmount = new Map(genesis.filter(({ redeem }) => redeem).map((utxo) => [utxo.lovelace.toString(), utxo.key]));
  const keys = [
    ...Object.keys(nonAvvmBalances).map((text) => byAddress.get(hex(base58.decode(text)))),
    ...Object.keys(avvmDistr).map((text) => (base64url.decode(text).length === 32 ? byAmount.get(avvmDistr[text]) : undefined)),
    ...Object.keys(initialFunds).map((text) => byAddress.get(text)),
  ];
  const places = new Map(keys.map((key, place) => [key!, place]));
  assert.equal(places.size, genesis.length, 'every grant has its place');
  return places;
}

/** The fold stands exactly where the producer's model stands, in every column. */
export function assertIsModel(rig: Rig, when = 'the store'): void {
  const { engine, fold, devnet, options } = rig;
  const pruned: PrunedHeights = readPruned(engine);
  const expected = new Expected(devnet);
  const columns = engine.columns.map(({ name }) => name);
  const rows = (column: string) => (columns.includes(column) ? rowsOf(engine, column) : []);
  const same = (column: string, wanted: readonly string[], got = rows(column)) => assertSameRows(got, wanted, `${when}: ${column}`);

  const chain = rows('chain').filter((row) => !row.startsWith('ff'));
  const keyLength = (row: string) => row.indexOf(' ') + 1;
  same(
    'chain',
    expected.chainRows(),
    chain.map((row) => row.slice(0, keyLength(row) + CHAIN_ROW_HEX)),
  );
  same('chain_hash', expected.hashRows());
  same('tx', expected.txRows());
  const deltas = Array.from(engine.scan('delta'), ([key]) => hex(key));
  same('delta', expected.deltaKeys(pruned.deltas), deltas);
  const tip = devnet.chain.tip;
  assert.equal(fold.head && hex(fold.head.hash), tip === undefined ? null : hex(tip.hash), `${when}: the head`);
  if (!options.utxo) return;
  same('utxo_unspent', expected.unspentRows());
  same('utxo_place', expected.placeRows());
  same('utxo_spent', expected.spentRows(pruned.spent, options.selfContained));
  for (const kind of ['address', 'payment', 'stake'] as const)
    if (columns.includes(`utxo_${kind}`)) same(`utxo_${kind}`, expected.indexRows(kind));
  for (const kind of TRAIT_KINDS) if (columns.includes(`utxo_${kind}`)) same(`utxo_${kind}`, expected.traitRows(kind));
  for (const kind of ['address', 'stake'] as const)
    if (columns.includes(`balance_${kind}`)) same(`balance_${kind}`, expected.balanceRows(kind));
  for (const kind of ['datum', 'script'] as const) if (columns.includes(kind)) same(kind, seenRows(devnet, kind));
  if (fold.head === null || tip === undefined) return;
  const { count, value } = devnet.chain;
  const { height, slot, boundary, era, utxos, value: total, missing } = fold.head;
  assert.deepEqual(
    { height, slot, boundary, era, utxos, total, missing },
    { height: tip.height, slot: tip.slot, boundary: tip.boundary, era: tip.era, utxos: count, total: value, missing: 0 },
    `${when}: the head`,
  );
  assert.deepEqual(digestOf(engine), { utxos: count, value, digest: devnet.chain.digest() }, `${when}: the digest`);
}
