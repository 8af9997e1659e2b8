/**
 * Spent outputs with what they held. Where undo records carry what a block spent
 * (`utxo.delta.selfContained`), a row of `utxo_spent` says only who spent the
 * output, and the rest is in the undo record of that block: one copy of it.
 */
import type { Reader } from '../engine/engine.ts';
import { CHAIN, chainKey } from '../projections/chain.ts';
import { readSpent, SPENT_HEADER_BYTES, type StoredSpend, spentHeight } from '../projections/coin.ts';
import { SPENT } from '../projections/utxo.ts';
import { DELTA, isSelfContained, readDelta } from '../state/delta.ts';
import { readPruned } from '../state/pruned.ts';
import { equalBytes, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { PAST_BYTES_MAX } from '../util/limits.ts';

/** Reads rows of `utxo_spent` for one question; it remembers the undo records it has looked into. */
export class SpentRows {
  private readonly reader: Reader;
  private readonly bodies = new Map<number, ReadonlyMap<string, Uint8Array>>();

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** Undefined where there is no such row. */
  many(keys: readonly Uint8Array[]): (StoredSpend | undefined)[] {
    if (keys.length === 0) return [];
    return this.reader.getMany(SPENT, keys).map((row, i) => (row === undefined ? undefined : this.read(keys[i], row)));
  }

  read(key: Uint8Array, row: Uint8Array): StoredSpend {
    return row.length > SPENT_HEADER_BYTES ? readSpent(row) : readSpent(row, this.body(key, spentHeight(row)));
  }

  private body(key: Uint8Array, height: number): Uint8Array {
    let bodies = this.bodies.get(height);
    if (bodies === undefined) {
      const value = this.reader.get(DELTA, chainKey(height, false));
      bodies = value === undefined ? new Map() : bodiesIn(value, height);
      this.bodies.set(height, bodies);
    }
    const body = bodies.get(toHex(key));
    if (body !== undefined) return body;
    throw new UnspentError('STORE_DAMAGED', `the undo record of block ${height} lacks ${toHex(key)}, which ${SPENT} says it spent`, {
      column: DELTA,
      key: toHex(key),
    });
  }
}

function bodiesIn(delta: Uint8Array, height: number): ReadonlyMap<string, Uint8Array> {
  const bodies = new Map<string, Uint8Array>();
  for (const { key, carried } of readDelta(delta, `the delta of block ${height}`).spent)
    if (carried !== undefined) bodies.set(toHex(key), carried.value);
  return bodies;
}

interface Known {
  readonly spent: number;
  readonly deltas: number;
  /** Of the newest block whose spent outputs were pruned: the same one has the same blocks below it. */
  readonly block: Uint8Array;
  readonly bodies: ReadonlyMap<string, Uint8Array>;
}

/**
 * Outputs whose row in `utxo_spent` is gone while an undo record still carries them, by outpoint. Made from all such
 * records at once, and remembered until more is pruned.
 */
export class CarriedOutputs {
  private known: Known | null = null;

  find(reader: Reader, key: Uint8Array): Uint8Array | undefined {
    return this.all(reader).get(toHex(key));
  }

  private all(reader: Reader): ReadonlyMap<string, Uint8Array> {
    const { spent, deltas } = readPruned(reader);
    const block = reader.get(CHAIN, chainKey(Math.max(spent, 0), false)) ?? new Uint8Array(0);
    const { known } = this;
    if (known !== null && known.spent === spent && known.deltas === deltas && equalBytes(known.block, block)) return known.bodies;
    const bodies = carriedBelow(reader, deltas, spent);
    this.known = { spent, deltas, block: Uint8Array.from(block), bodies };
    return bodies;
  }
}

function carriedBelow(reader: Reader, deltas: number, spent: number): ReadonlyMap<string, Uint8Array> {
  const all = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const [key, value] of reader.scan(DELTA, { gte: chainKey(deltas + 1, false), lt: chainKey(spent + 1, false) })) {
    if (!isSelfContained(value)) break;
    bytes += value.length;
    if (bytes > PAST_BYTES_MAX)
      throw new UnspentError('LIMIT', `what undo records carry takes more than ${PAST_BYTES_MAX} bytes; ask for a newer block`);
    // Copied: what a scan gives is good until it goes on.
    for (const spend of readDelta(value.slice(), `the delta of block ${toHex(key)}`).spent)
      if (spend.carried !== undefined) all.set(toHex(spend.key), spend.carried.value);
  }
  return all;
}
