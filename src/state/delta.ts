/**
 * The delta: what it takes to undo one block, in that block's own batch.
 *
 *   flags u8 (1: self-contained) | missing varint
 *   | n varint, then per transaction: flags u8 (1: phase-2 invalid, 2: a grant
 *     of the ledger, not a transaction, 4: more of the transaction before, whose
 *     outputs are not all kept), id 32, first output index, outputs
 *   | m varint, then per spent output: outpoint 36 [, who spent it varint (0:
 *     the ledger itself, 1: the first transaction, ...), input varint, length
 *     varint, stored value (packed)]
 *   | u varint, then per projection with an undo of its own: name, bytes
 *
 * Compact by default: spent outputs are in `utxo_spent`. A self-contained delta
 * carries them instead, so that it outlives the pruning there; then `utxo_spent`
 * has only who spent them.
 */
import type { ColumnSpec } from '../engine/engine.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../ledgers/outpoint.ts';
import { type Coin, NO_INPUT } from '../projections/coin.ts';
import { packedLength, writePacked } from '../projections/packed.ts';
import { DELTA } from '../projections/projection.ts';
import { ByteReader, ByteWriter } from '../util/byte-writer.ts';
import { utf8 } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import { Scratch } from '../util/scratch.ts';

export { DELTA };
/** A sixth of what is written where blocks are full, most of it where they are nearly empty: headers are in it. */
export const deltaColumn: ColumnSpec = { name: DELTA, access: 'order', weight: 20 };

const SELF_CONTAINED = 1;
const TX_INVALID = 1;
const TX_GRANT = 2;
const TX_MORE = 4;

/** A run of outputs with successive indexes. A transaction has one, or more where outputs between them can never be spent. */
export interface DeltaTx {
  readonly id: Uint8Array;
  readonly valid: boolean;
  /** `more`: a further run of the transaction before. */
  readonly kind: 'tx' | 'grant' | 'more';
  readonly firstIndex: number;
  readonly count: number;
}

const KIND_FLAG: Readonly<Record<DeltaTx['kind'], number>> = { tx: 0, grant: TX_GRANT, more: TX_MORE };

/** A spent output in the delta itself. */
export interface CarriedSpend {
  /** Place of the spending transaction in the block; null: the ledger itself removed it. */
  readonly txIndex: number | null;
  readonly input: number;
  /** Its stored value, packed. */
  readonly value: Uint8Array;
}

export interface DeltaSpend {
  readonly key: Uint8Array;
  /** Undefined: it is in `utxo_spent`. */
  readonly carried: CarriedSpend | undefined;
}

export interface Delta {
  /** It carries every output it lists as spent. */
  readonly isSelfContained: boolean;
  readonly missing: number;
  readonly txs: readonly DeltaTx[];
  readonly spent: readonly DeltaSpend[];
  readonly undo: ReadonlyMap<string, Uint8Array>;
}

export interface DeltaInput {
  readonly missing: number;
  readonly txs: readonly DeltaTx[];
  readonly spent: readonly Coin[];
  readonly undo: readonly (readonly [name: string, bytes: Uint8Array])[];
}

/** What most carried outputs take. */
const CARRIED_BYTES = 1024;

/** Writes deltas one after the other into the same buffer. */
export class DeltaWriter {
  private readonly w = new ByteWriter();
  private readonly value = new Scratch(CARRIED_BYTES);
  /** A few names of projections, written with every block. */
  private readonly names = new Map<string, Uint8Array>();

  /** The delta, valid until the next one is written. */
  write(delta: DeltaInput, selfContained: boolean): Uint8Array {
    const { w } = this;
    w.reset();
    w.u8(selfContained ? SELF_CONTAINED : 0);
    w.varint(delta.missing);
    w.varint(delta.txs.length);
    for (const tx of delta.txs) {
      w.u8((tx.valid ? 0 : TX_INVALID) | KIND_FLAG[tx.kind]);
      w.run(tx.id);
      w.varint(tx.firstIndex);
      w.varint(tx.count);
    }
    w.varint(delta.spent.length);
    for (const coin of delta.spent) {
      w.run(coin.keyBytes, coin.keyAt, coin.keyAt + OUTPOINT_BYTES);
      if (selfContained) writeCarried(w, coin, this.value);
    }
    w.varint(delta.undo.length);
    for (const [name, bytes] of delta.undo) {
      w.u8(name.length);
      w.run(this.nameBytes(name));
      w.varint(bytes.length);
      w.run(bytes);
    }
    return w.view();
  }

  private nameBytes(name: string): Uint8Array {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    const bytes = utf8(name);
    this.names.set(name, bytes);
    return bytes;
  }
}

function writeCarried(w: ByteWriter, coin: Coin, scratch: Scratch): void {
  const { spender, input } = coin;
  assert(spender !== null, 'a spent coin has a spender');
  const isLedgers = input === NO_INPUT;
  w.varint(isLedgers ? 0 : spender.txIndex + 1);
  w.varint(isLedgers ? 0 : input);
  const length = packedLength(coin.bytes, coin.at, coin.end);
  scratch.need(length);
  writePacked(coin.bytes, coin.at, coin.end, scratch.bytes, 0);
  w.varint(length);
  w.run(scratch.bytes, 0, length);
}

function readCarried(r: ByteReader): CarriedSpend {
  const [place, input] = [r.varint(), r.varint()];
  const value = r.run(r.varint());
  return place === 0 ? { txIndex: null, input: NO_INPUT, value } : { txIndex: place - 1, input, value };
}

/** Whether a delta carries what it spent; every delta of a store does, or none. */
export function isSelfContained(bytes: Uint8Array): boolean {
  return (bytes[0] & SELF_CONTAINED) !== 0;
}

export function readDelta(bytes: Uint8Array, what: string): Delta {
  const r = new ByteReader(bytes, what);
  const selfContained = (r.u8() & SELF_CONTAINED) !== 0;
  const missing = r.varint();
  const txs: DeltaTx[] = [];
  for (let n = r.varint(); n > 0; n--) {
    const flags = r.u8();
    const id = r.run(TXID_BYTES);
    const kind = (flags & TX_GRANT) !== 0 ? 'grant' : (flags & TX_MORE) !== 0 ? 'more' : 'tx';
    txs.push({ id, valid: (flags & TX_INVALID) === 0, kind, firstIndex: r.varint(), count: r.varint() });
  }
  const spent: DeltaSpend[] = [];
  for (let m = r.varint(); m > 0; m--) {
    const key = r.run(OUTPOINT_BYTES);
    spent.push({ key, carried: selfContained ? readCarried(r) : undefined });
  }
  const undo = new Map<string, Uint8Array>();
  for (let u = r.varint(); u > 0; u--) {
    const name = new TextDecoder().decode(r.run(r.u8()));
    undo.set(name, r.run(r.varint()));
  }
  r.end();
  return { isSelfContained: selfContained, missing, txs, spent, undo };
}
