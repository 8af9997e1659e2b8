/**
 * Stores of earlier formats, made on the spot: one of today is written into a new
 * database with the rows and columns that the format had. How those looked is
 * said here a second time, apart from the code that upgrades them.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { readAnyIdentity, writeIdentity } from '../../src/engine/directory.ts';
import type { Engine, Row } from '../../src/engine/engine.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { describeOutput as describeBitcoin } from '../../src/ledgers/bitcoin/index.ts';
import { describeOutput } from '../../src/ledgers/cardano/index.ts';
import { type Delta, readDelta } from '../../src/state/delta.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { ByteWriter } from '../../src/util/byte-writer.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';

const INDEXES = ['address', 'payment', 'stake', 'policy', 'asset', 'datum', 'script'].map((kind) => `utxo_${kind}`);
const SPENT_HEADER = 48;
/** Behind flags, height, slot, tx index and value. */
const PLACES = 25;

export type StoreRows = Readonly<Record<string, readonly string[]>>;

export function rowsOf({ columns, scan }: Pick<Engine, 'columns' | 'scan'>): StoreRows {
  return Object.fromEntries(columns.map(({ name }) => [name, Array.from(scan(name), ([key, value]) => `${toHex(key)}=${toHex(value)}`)]));
}

/** How rows of a column were, and which columns there were not. */
interface OldFormat {
  row(column: string, row: Row): Row;
  readonly without: readonly string[];
}

/** A stored value with the key of its owner, as schema 2 had it. */
function whole(value: Uint8Array, isBitcoin: boolean): Uint8Array {
  if (value.length === 0) return value;
  const mask = value[0] >> 5;
  const output = PLACES + [0, 1, 1, 2, 1, 2, 2, 3][mask];
  const raw = value.subarray(output);
  const key = isBitcoin ? sha256(describeBitcoin(raw).script).subarray(0, 28) : blake2b224(describeOutput(raw).address);
  return concatBytes(value.subarray(0, PLACES), Uint8Array.of(0), value.subarray(PLACES + 1, output), key, raw);
}

function schemaTwo(engine: Engine, isBitcoin: boolean): OldFormat {
  const ids = isBitcoin ? new Map<string, Uint8Array>() : new Map(Array.from(engine.scan('utxo_place'), ([key, id]) => [toHex(key), id]));
  return {
    without: ['utxo_place'],
    row(column, [key, value]) {
      if (column === 'utxo_unspent') return [key, whole(value, isBitcoin)];
      if (column === 'utxo_spent')
        return [key, concatBytes(value.subarray(0, SPENT_HEADER), whole(value.subarray(SPENT_HEADER), isBitcoin))];
      if (column === 'delta')
        return [
          key,
          deltaOf(
            readDelta(value, 'a delta'),
            (outpoint) => outpoint,
            (stored) => whole(stored, isBitcoin),
          ),
        ];
      if (!isBitcoin && INDEXES.includes(column)) return [key, ids.get(toHex(key.subarray(28)))!];
      return [key, value];
    },
  };
}

const without = (bytes: Uint8Array, at: number): Uint8Array => concatBytes(bytes.subarray(0, at), bytes.subarray(at + 2));

/** Output indexes had two bytes. */
function schemaOne(engine: Engine): OldFormat {
  const two = schemaTwo(engine, false);
  return {
    without: two.without,
    row(column, row) {
      const [key, value] = two.row(column, row);
      if (column === 'utxo_unspent') return [without(key, 32), value];
      if (column === 'utxo_spent') return [without(key, 32), without(value, 32)];
      if (column === 'delta')
        return [
          key,
          deltaOf(
            readDelta(value, 'a delta'),
            (outpoint) => without(outpoint, 32),
            (stored) => stored,
          ),
        ];
      return INDEXES.includes(column) ? [without(key, 40), value] : [key, value];
    },
  };
}

type Change = (bytes: Uint8Array) => Uint8Array;

function deltaOf({ isSelfContained, missing, txs, spent, undo }: Delta, outpoint: Change, stored: Change): Uint8Array {
  const w = new ByteWriter();
  w.u8(isSelfContained ? 1 : 0);
  w.varint(missing);
  w.varint(txs.length);
  for (const { id, valid, kind, firstIndex, count } of txs) {
    w.u8((valid ? 0 : 1) | { tx: 0, grant: 2, more: 4 }[kind]);
    w.run(id);
    w.varint(firstIndex);
    w.varint(count);
  }
  w.varint(spent.length);
  for (const { key, carried } of spent) {
    w.run(outpoint(key));
    if (carried === undefined) continue;
    const value = stored(carried.value);
    w.varint(carried.txIndex === null ? 0 : carried.txIndex + 1);
    w.varint(carried.txIndex === null ? 0 : carried.input);
    w.varint(value.length);
    w.run(value);
  }
  w.varint(undo.size);
  for (const [name, bytes] of undo) {
    w.u8(name.length);
    w.run(utf8(name));
    w.varint(bytes.length);
    w.run(bytes);
  }
  return Uint8Array.from(w.view());
}

/** The store is closed, and what it was is a store of that schema then. Returns the rows it had. */
export async function makeOld(store: OpenStore, schema: 1 | 2, kind: 'rocks' | 'sqlite'): Promise<StoreRows> {
  const { engine, data, network } = store;
  const rows = rowsOf({ columns: engine.columns, scan: (name) => engine.scan(name) });
  const format = schema === 1 ? schemaOne(engine) : schemaTwo(engine, network.family.name === 'bitcoin');
  const columns = engine.columns.filter(({ name }) => !format.without.includes(name));
  const place = join(data, 'old');
  const old = await openEngineIn(place, columns, { kind, createIfMissing: true });
  for (const { name } of columns) {
    const batch = old.batch();
    for (const row of engine.scan(name)) batch.put(name, ...format.row(name, row));
    batch.commit();
  }
  await old.close();
  await store.close();
  const database = join(data, 'db');
  rmSync(database, { recursive: true });
  renameSync(place, database);
  writeIdentity(data, { ...readAnyIdentity(data)!, schema, columns: columns.map(({ name }) => name) });
  return rows;
}
