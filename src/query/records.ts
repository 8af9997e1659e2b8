/**
 * The interchange records of outputs, unspent and spent, in canonical CBOR
 * (docs/reference/records.md). A record does not say which output it is of; an
 * entry does.
 */
import type { Asset } from '../ledgers/asset.ts';
import { type Cursor, MAP } from '../util/cbor.ts';
import type { CborWriter } from '../util/cbor-write.ts';
import {
  bytesIf,
  decodeCanonical,
  encodeCanonical,
  fieldCount,
  type PartialRecord,
  type RecordForm,
  readFields,
  readList,
  readTrue,
  required,
  uintIf,
} from './record-form.ts';

/** An output as it is handed on. */
export interface UtxoRecord {
  /** Of the Bitcoin family: the script. */
  readonly address: Uint8Array;
  /** In the chain's smallest unit: lovelace, satoshi. */
  readonly value: bigint;
  /** Its assets, in ascending order of policy and name. */
  readonly assets: readonly Asset[];
  /** The hash of its datum; null: it has none by hash. */
  readonly datumHash: Uint8Array | null;
  /** The datum's own CBOR. */
  readonly inlineDatum: Uint8Array | null;
  /** CBOR `[kind, script]`. */
  readonly scriptRef: Uint8Array | null;
  /** The hash of the script it carries; null: none. */
  readonly scriptHash: Uint8Array | null;
  /** Of Cardano: it is the change of a collateral. */
  readonly isCollateralReturn: boolean;
  /** Of the Bitcoin family: it is a block's reward. */
  readonly isCoinbase: boolean;
  /** The slot of its block. */
  readonly slot: number;
  /** The height of its block. */
  readonly block: number;
  /** The hash of its block; null: the store does not have the block. */
  readonly blockHash: Uint8Array | null;
  /** Null: the chain has none. */
  readonly epoch: number | null;
  /** Unix seconds, rounded down. Null: unknown. */
  readonly blockTime: number | null;
  /** Of its owner; null: none. */
  readonly paymentCredential: Uint8Array | null;
  /** Of its owner; null: none. */
  readonly stakeCredential: Uint8Array | null;
  /** The stake address that belongs to its owner; null: none. */
  readonly stakeAddress: Uint8Array | null;
}

/** A spent output as it is handed on. */
export interface SpentRecord {
  /** Null: removed by the ledger itself. */
  readonly spentBy: Uint8Array | null;
  /** The slot of the block that spent it. */
  readonly slot: number;
  /** The height of that block. */
  readonly block: number;
  /** The hash of that block; null: the store does not have it. */
  readonly blockHash: Uint8Array | null;
  /** When that block was made, in Unix seconds; null: unknown. */
  readonly time: number | null;
  /** The epoch of that block; null: the chain has none. */
  readonly epoch: number | null;
  /** The output as it was. */
  readonly before: UtxoRecord;
}

/** An output by name, with its record. */
export interface OutputEntry {
  /** The id of its transaction, in the order of the chain. */
  readonly txId: Uint8Array;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
  /** The output, unspent or spent. */
  readonly record: UtxoRecord | SpentRecord;
}

/** The record of an output in canonical CBOR. */
export const encodeUtxoRecord = (record: UtxoRecord): Uint8Array => encodeCanonical(UTXO, record);
/** Reads that. Throws USAGE. */
export const decodeUtxoRecord = (bytes: Uint8Array): UtxoRecord => decodeCanonical(UTXO, bytes);
/** The record of a spent output in canonical CBOR. */
export const encodeSpentRecord = (record: SpentRecord): Uint8Array => encodeCanonical(SPENT, record);
/** Reads that. Throws USAGE. */
export const decodeSpentRecord = (bytes: Uint8Array): SpentRecord => decodeCanonical(SPENT, bytes);
/** An output by name, with its record, in canonical CBOR. */
export const encodeOutputEntry = (entry: OutputEntry): Uint8Array => encodeCanonical(ENTRY, entry);
/** Reads that. Throws USAGE. */
export const decodeOutputEntry = (bytes: Uint8Array): OutputEntry => decodeCanonical(ENTRY, bytes);

export const UTXO: RecordForm<UtxoRecord> = {
  name: 'UtxoRecord',
  write(w, r) {
    const optional = [r.datumHash, r.inlineDatum, r.scriptRef, r.scriptHash, r.blockHash];
    const owner = [r.paymentCredential, r.stakeCredential, r.stakeAddress];
    const there = [...optional, ...owner].map((field) => field !== null);
    const clock = [r.epoch !== null, r.blockTime !== null];
    w.map(4 + fieldCount(r.assets.length > 0, r.isCollateralReturn, r.isCoinbase, ...clock, ...there));
    w.uint(0).bytes(r.address).uint(1).bigUint(r.value);
    if (r.assets.length > 0) writeAssets(w.uint(2), r.assets);
    bytesIf(w, 3, r.datumHash);
    bytesIf(w, 4, r.inlineDatum);
    bytesIf(w, 5, r.scriptRef);
    bytesIf(w, 6, r.scriptHash);
    if (r.isCollateralReturn) w.uint(7).bool(true);
    w.uint(8).uint(r.slot).uint(9).uint(r.block);
    bytesIf(w, 10, r.blockHash);
    uintIf(w, 11, r.epoch);
    uintIf(w, 12, r.blockTime);
    bytesIf(w, 13, r.paymentCredential);
    bytesIf(w, 14, r.stakeCredential);
    bytesIf(w, 15, r.stakeAddress);
    if (r.isCoinbase) w.uint(16).bool(true);
  },
  read(c) {
    const r: PartialRecord<UtxoRecord> = {
      address: null,
      value: null,
      assets: null,
      datumHash: null,
      inlineDatum: null,
      scriptRef: null,
      scriptHash: null,
      isCollateralReturn: null,
      isCoinbase: null,
      slot: null,
      block: null,
      blockHash: null,
      epoch: null,
      blockTime: null,
      paymentCredential: null,
      stakeCredential: null,
      stakeAddress: null,
    };
    readFields(c, 'a UtxoRecord', (key) => {
      if (key === 0) r.address = c.byteString();
      else if (key === 1) r.value = c.bigUint();
      else if (key === 2) r.assets = readAssetList(c);
      else if (key === 3) r.datumHash = c.byteString();
      else if (key === 4) r.inlineDatum = c.byteString();
      else if (key === 5) r.scriptRef = c.byteString();
      else if (key === 6) r.scriptHash = c.byteString();
      else if (key === 7) r.isCollateralReturn = readTrue(c);
      else if (key === 8) r.slot = c.uint();
      else if (key === 9) r.block = c.uint();
      else if (key === 10) r.blockHash = c.byteString();
      else if (key === 11) r.epoch = c.uint();
      else if (key === 12) r.blockTime = c.uint();
      else if (key === 13) r.paymentCredential = c.byteString();
      else if (key === 14) r.stakeCredential = c.byteString();
      else if (key === 15) r.stakeAddress = c.byteString();
      else if (key === 16) r.isCoinbase = readTrue(c);
      else return false;
      return true;
    });
    return {
      ...r,
      address: required(c, r.address, 'the address'),
      value: required(c, r.value, 'the value'),
      assets: r.assets ?? [],
      isCollateralReturn: r.isCollateralReturn ?? false,
      isCoinbase: r.isCoinbase ?? false,
      slot: required(c, r.slot, 'the slot'),
      block: required(c, r.block, 'the block number'),
    };
  },
};

function writeAssets(w: CborWriter, assets: readonly Asset[]): void {
  w.array(assets.length);
  for (const { policy, name, quantity } of assets) w.array(3).bytes(policy).bytes(name).int(quantity);
}

function readAssetList(c: Cursor): Asset[] {
  return readList(c, () => {
    const fields = c.tuple(3, 'an asset');
    const asset = { policy: c.byteString(), name: c.byteString(), quantity: c.bigInt() };
    c.close(fields);
    return asset;
  });
}

const SPENT: RecordForm<SpentRecord> = {
  name: 'SpentRecord',
  write(w, r) {
    w.map(3 + fieldCount(r.spentBy !== null, r.blockHash !== null, r.time !== null, r.epoch !== null));
    bytesIf(w, 0, r.spentBy);
    w.uint(1).uint(r.slot).uint(2).uint(r.block);
    bytesIf(w, 3, r.blockHash);
    uintIf(w, 4, r.time);
    uintIf(w, 5, r.epoch);
    UTXO.write(w.uint(6), r.before);
  },
  read(c) {
    const r: PartialRecord<SpentRecord> = {
      spentBy: null,
      slot: null,
      block: null,
      blockHash: null,
      time: null,
      epoch: null,
      before: null,
    };
    readFields(c, 'a SpentRecord', (key) => {
      if (key === 0) r.spentBy = c.byteString();
      else if (key === 1) r.slot = c.uint();
      else if (key === 2) r.block = c.uint();
      else if (key === 3) r.blockHash = c.byteString();
      else if (key === 4) r.time = c.uint();
      else if (key === 5) r.epoch = c.uint();
      else if (key === 6) r.before = UTXO.read(c);
      else return false;
      return true;
    });
    return {
      ...r,
      slot: required(c, r.slot, 'the slot'),
      block: required(c, r.block, 'the block number'),
      before: required(c, r.before, 'the record before'),
    };
  },
};

/** `[tx id, index, record]`. */
const ENTRY: RecordForm<OutputEntry> = {
  name: 'OutputEntry',
  write(w, { txId, index, record }) {
    writeRecord(w.array(3).bytes(txId).uint(index), record);
  },
  read(c) {
    const fields = c.tuple(3, 'an output of a list');
    const entry = { txId: c.byteString(), index: c.uint(), record: readRecord(c) };
    c.close(fields);
    return entry;
  },
};

function writeRecord(w: CborWriter, record: UtxoRecord | SpentRecord): void {
  if ('before' in record) SPENT.write(w, record);
  else UTXO.write(w, record);
}

/** Field 6 tells them apart: of a spent output it is the record before, a map; of an unspent one a hash, or absent. */
function readRecord(c: Cursor): UtxoRecord | SpentRecord {
  const from = c.at;
  let isSpent = false;
  for (let i = 0, pairs = c.map(); c.more(pairs, i); i++) {
    if (c.uint() === 6 && c.peek() === MAP) isSpent = true;
    c.skip();
  }
  c.at = from;
  return isSpent ? SPENT.read(c) : UTXO.read(c);
}
