/**
 * Coins by hand: an output's bytes with a place on the chain, in the form the
 * projections see them. And single steps over a memory engine, without a fold.
 */

import type { Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { cardanoLedger } from '../../src/ledgers/cardano/index.ts';
import { cardanoNetwork } from '../../src/ledgers/cardano/networks.ts';
import { OutputKeys } from '../../src/ledgers/ledger.ts';
import { OUTPOINT_BYTES, TXID_BYTES, writeOutputIndex } from '../../src/ledgers/outpoint.ts';
import { AT, Coin, KEY_MASK_SHIFT, KEYS_BYTES_MAX, writeKeys } from '../../src/projections/coin.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { concatBytes, fromHex, writeU32, writeU64 } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';

export const ledger = cardanoLedger(cardanoNetwork('preview'), null);

/** A base address: payment credential of `payment`s, stake credential of `stake`s. */
export function baseAddress(payment: string, stake: string): Uint8Array {
  return fromHex(`00${payment.repeat(28)}${stake.repeat(28)}`);
}

export interface Made {
  readonly address?: Uint8Array;
  readonly lovelace?: bigint;
  /** As they are written, in this order; policies may repeat. */
  readonly assets?: readonly (readonly [policy: string, name: string, quantity: bigint])[];
  readonly datum?: Uint8Array;
  readonly script?: Uint8Array;
  /** Number of the transaction: makes its id. */
  readonly tx?: number;
  readonly index?: number;
  readonly height?: number;
  readonly slot?: number;
}

const keys = new OutputKeys();

export function makeCoin(made: Made): Coin {
  const { tx = 0, index = 0, height = 1, slot = 100, lovelace = 1_000_000n } = made;
  const raw = outputBytes(made, lovelace);
  const outpoint = new Uint8Array(OUTPOINT_BYTES);
  writeU32(outpoint, 0, tx);
  writeOutputIndex(outpoint, TXID_BYTES, index);
  const create = ledger.readOutput(raw, 0, raw.length);
  ledger.findKeys(raw, create, keys);
  const head = new Uint8Array(AT.keys + KEYS_BYTES_MAX);
  head[0] = keys.mask << KEY_MASK_SHIFT;
  writeU32(head, AT.height, height);
  writeU64(head, AT.slot, slot);
  writeU32(head, AT.txIndex, tx);
  writeU32(head, AT.value, create.valueHi);
  writeU32(head, AT.value + 4, create.valueLo);
  const value = concatBytes(head.subarray(0, writeKeys(head, 0, keys, raw, 0)), raw);
  return new Coin(outpoint, 0, value, 0, value.length, true);
}

function outputBytes({ address = baseAddress('01', '02'), assets = [], datum, script }: Made, lovelace: bigint): Uint8Array {
  const w = new CborWriter(4096).startMap().uint(0).bytes(address).uint(1);
  if (assets.length === 0) w.bigUint(lovelace);
  else {
    w.array(2).bigUint(lovelace).startMap();
    for (const [policy, name, quantity] of assets) w.bytes(fromHex(policy)).map(1).bytes(fromHex(name)).int(quantity);
    w.end();
  }
  if (datum !== undefined) w.uint(2).array(2).uint(1).encoded(datum);
  if (script !== undefined) w.uint(3).encoded(script);
  return w.end().take();
}

export function engineFor(...projections: readonly Projection[]): Engine {
  return openMemory(projections.flatMap(({ columns }) => columns));
}

/** A step without blocks: these are unspent from now on, those no longer. */
export function move(engine: Engine, projection: Projection, added: readonly Coin[], removed: readonly Coin[] = []): void {
  const batch = engine.batch();
  projection.apply({ blocks: [], added, removed }, engine, batch);
  batch.commit();
}
