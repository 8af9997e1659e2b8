/**
 * Datums and scripts by hash, with where each was seen first: in an output that
 * carries it, or beside a transaction that uses it.
 *
 *   hash  ->  height u32 | slot u64 | tx id 32 | output index u32 | its bytes
 *
 * Output index ffffffff: it stood among the witnesses of the transaction. In a block
 * outputs come before witnesses. The earliest place wins and its block's undo
 * takes the row away again: outputs are known from the delta anyway, of the
 * witnesses the undo lists the hashes that were new.
 *
 * Switched on late, rows begin with the unspent outputs there. Then an older
 * place may turn up after a younger one (as an output is read, or is unspent
 * again after a rollback) and takes over, so that no unspent output is ever
 * without its row.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import type { NamedBytes, OutputTraits, Point, WitnessKind } from '../../ledgers/ledger.ts';
import {
  OUTPUT_INDEX_BYTES,
  OUTPUT_INDEX_MAX,
  outpointIndex,
  outpointTxId,
  readOutputIndex,
  TXID_BYTES,
  writeOutputIndex,
} from '../../ledgers/outpoint.ts';
import { concatBytes, copyBytes, readU32, readU64, toHex, writeU32, writeU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { Scratch } from '../../util/scratch.ts';
import { AT, type Coin, outputOffset } from '../coin.ts';
import type { ForwardBlock, Projection, Step, StepBlock, Undo } from '../projection.ts';

/** Output index of what was seen among witnesses. */
const IN_WITNESSES = OUTPUT_INDEX_MAX;
const ROW_AT = { height: 0, slot: 4, txId: 12, index: 44, bytes: 44 + OUTPUT_INDEX_BYTES } as const;
const HASH_BYTES: Readonly<Record<WitnessKind, number>> = { datum: 32, script: 28 };

export function seenColumn(kind: WitnessKind): string {
  return kind;
}

export interface SeenRow {
  readonly height: number;
  readonly slot: number;
  readonly txId: Uint8Array;
  /** Null: among the witnesses of the transaction. */
  readonly index: number | null;
  readonly bytes: Uint8Array;
}

export function readSeen(value: Uint8Array): SeenRow {
  const index = readOutputIndex(value, ROW_AT.index);
  return {
    height: readU32(value, ROW_AT.height),
    slot: readU64(value, ROW_AT.slot),
    txId: value.subarray(ROW_AT.txId, ROW_AT.txId + TXID_BYTES),
    index: index === IN_WITNESSES ? null : index,
    bytes: value.subarray(ROW_AT.bytes),
  };
}

/** What the output in a stored value carries of this kind. */
export function witnessesOf(kind: WitnessKind, traits: OutputTraits, stored: Uint8Array, at: number, end: number): NamedBytes | null {
  const start = outputOffset(stored, at);
  if (traits.isPlain(stored, start, end)) return null;
  return kind === 'datum' ? traits.inlineDatum(stored, start, end) : traits.referenceScript(stored, start, end);
}

/** Something met on the way, and where. */
interface Sight {
  readonly item: NamedBytes;
  readonly height: number;
  readonly slot: number;
  readonly txId: Uint8Array;
  readonly index: number;
  /** Which block of the step; -1: of none. */
  readonly block: number;
}

export function seenProjection(kind: WitnessKind, traits: OutputTraits): Projection {
  const column = seenColumn(kind);
  const row = new Scratch(4096);

  function inOutputs(coins: readonly Coin[], block: number, into: Sight[]): void {
    for (const coin of coins) {
      const item = witnessesOf(kind, traits, coin.bytes, coin.at, coin.end);
      if (item !== null) into.push({ item, ...placeOf(coin), block });
    }
  }

  function inWitnesses({ block }: ForwardBlock, number: number, into: Sight[]): void {
    const { height, slot, txs } = block;
    if (txs.length === 0) return;
    for (const { txIndex, item } of traits.witnesses(block, kind)) {
      into.push({ item, height, slot, txId: txs[txIndex].id, index: IN_WITNESSES, block: number });
    }
  }

  /** Keeps what is new, or was seen earlier than we knew; returns that. */
  function keep(sights: readonly Sight[], view: Reader, batch: Batch): readonly Sight[] {
    const first = earliest(sights);
    const known = view.getMany(
      column,
      first.map(({ item }) => item.hash),
    );
    const kept = first.filter(({ slot }, i) => {
      const value = known[i];
      return value === undefined || readU64(value, ROW_AT.slot) > slot;
    });
    for (const sight of kept) batch.put(column, sight.item.hash, writeSight(sight, row));
    return kept;
  }

  function apply(step: Step<ForwardBlock>, view: Reader, batch: Batch): Undo | undefined {
    const sights: Sight[] = [];
    if (step.blocks.length === 0) inOutputs(step.added, -1, sights);
    for (let i = 0; i < step.blocks.length; i++) {
      inOutputs(step.blocks[i].created, i, sights);
      inWitnesses(step.blocks[i], i, sights);
    }
    if (sights.length === 0) return undefined;
    return undoOf(keep(sights, view, batch), step.blocks.length);
  }

  function revert(step: Step, undo: Undo, view: Reader, batch: Batch): void {
    const suspects = step.blocks.flatMap((block, i) => suspectsOf(block, undo[i]));
    const rows = view.getMany(
      column,
      suspects.map(({ hash }) => hash),
    );
    for (let i = 0; i < suspects.length; i++) {
      const { hash, block } = suspects[i];
      const value = rows[i];
      // What an earlier block showed already stays.
      if (value === undefined || readU64(value, ROW_AT.slot) !== block.slot || readU32(value, ROW_AT.height) !== block.height) continue;
      batch.del(column, hash);
    }
    // Unspent again, and older than all that is undone: their rows come last.
    const sights: Sight[] = [];
    inOutputs(step.added, -1, sights);
    if (sights.length > 0) keep(sights, view, batch);
  }

  /** Hashes whose row this block may have written. */
  function suspectsOf(block: StepBlock, undo: Uint8Array | undefined): { hash: Uint8Array; block: Point }[] {
    const sights: Sight[] = [];
    inOutputs(block.created, -1, sights);
    const hashes = [...sights.map(({ item }) => item.hash), ...split(undo, HASH_BYTES[kind], column)];
    return hashes.map((hash) => ({ hash, block }));
  }

  return { name: `${kind}s`, columns: [{ name: column, access: 'archive', weight: 8 }], fillable: 'outputs', apply, revert };
}

function placeOf({ keyBytes, keyAt, bytes, at }: Coin): Omit<Sight, 'item' | 'block'> {
  return {
    height: readU32(bytes, at + AT.height),
    slot: readU64(bytes, at + AT.slot),
    txId: outpointTxId(keyBytes, keyAt),
    index: outpointIndex(keyBytes, keyAt),
  };
}

/** Each hash once, where it was seen first; of one block, what comes first in the list. */
function earliest(sights: readonly Sight[]): readonly Sight[] {
  const first = new Map<string, Sight>();
  for (const sight of sights) {
    const text = toHex(sight.item.hash);
    const known = first.get(text);
    if (known === undefined || sight.slot < known.slot) first.set(text, sight);
  }
  return [...first.values()];
}

function writeSight({ item, height, slot, txId, index }: Sight, scratch: Scratch): Uint8Array {
  const length = ROW_AT.bytes + item.bytes.length;
  scratch.need(length);
  const { bytes } = scratch;
  writeU32(bytes, ROW_AT.height, height);
  writeU64(bytes, ROW_AT.slot, slot);
  copyBytes(txId, 0, bytes, ROW_AT.txId, TXID_BYTES);
  writeOutputIndex(bytes, ROW_AT.index, index);
  bytes.set(item.bytes, ROW_AT.bytes);
  return scratch.view(length);
}

/** By block, the new hashes of its witnesses. */
function undoOf(kept: readonly Sight[], blocks: number): Undo | undefined {
  const hashes: Uint8Array[][] = Array.from({ length: blocks }, () => []);
  for (const { item, index, block } of kept) if (index === IN_WITNESSES) hashes[block].push(item.hash);
  if (hashes.every((list) => list.length === 0)) return undefined;
  return hashes.map((list) => (list.length === 0 ? undefined : concatBytes(...list)));
}

function split(undo: Uint8Array | undefined, each: number, column: string): Uint8Array[] {
  if (undo === undefined) return [];
  if (undo.length % each !== 0) throw new UnspentError('STORE_DAMAGED', `the undo of ${column} has ${undo.length} bytes`, { column });
  return Array.from({ length: undo.length / each }, (_, i) => undo.subarray(i * each, (i + 1) * each));
}
