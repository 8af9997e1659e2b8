/**
 * A transaction and an output as a reader wants them, taken apart on demand
 * from their bytes. The fold keeps only what is spent and created; everything
 * else is here. Throws BLOCK_INVALID with the position.
 */

import { readU32LE } from '../../util/bytes.ts';
import { Cursor } from './cursor.ts';
import type { BitcoinTx } from './transaction.ts';

const HASH_BYTES = 32;
const NO_WITNESS: readonly Uint8Array[] = Object.freeze([]);

/** An output, decoded. */
export interface DescribedOutput {
  /** Its value in the smallest unit. */
  readonly value: bigint;
  /** The script that owns it. */
  readonly script: Uint8Array;
}

/** An input of a transaction, decoded. */
export interface TxInput {
  /** Of a coinbase: zeros and 4294967295. */
  readonly txId: Uint8Array;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
  /** The script that unlocks it; empty where the witness does. */
  readonly scriptSig: Uint8Array;
  /** Its sequence number. */
  readonly sequence: number;
  /** Its witness, item by item; empty: none. */
  readonly witness: readonly Uint8Array[];
}

/** `start..end` are the output's bytes in the transaction's buffer. All outputs are here, those that cannot be spent too. */
export interface TxOutput extends DescribedOutput {
  /** Which of its transaction's outputs it is. */
  readonly index: number;
  /** Where its bytes begin. */
  readonly start: number;
  /** Where its bytes end. */
  readonly end: number;
}

/** A transaction, decoded. */
export interface DescribedTx {
  /** 32 bytes in the order of a block. */
  readonly id: Uint8Array;
  /** The hash that covers the witnesses, too. */
  readonly witnessId: Uint8Array;
  /** The version it states, signed as nodes show it. */
  readonly version: number;
  /** A height or Unix seconds before which it cannot be in a block; 0: none. */
  readonly lockTime: number;
  /** Whether it is a block's reward. */
  readonly coinbase: boolean;
  /** What it spends. */
  readonly inputs: readonly TxInput[];
  /** What it makes, those nobody can spend included. */
  readonly outputs: readonly TxOutput[];
  /** Bytes as it stands, and without its witnesses. */
  readonly size: number;
  /** Its bytes without the witnesses. */
  readonly strippedSize: number;
  /** BIP141: a byte outside the witnesses counts four times. */
  readonly weight: number;
  /** A quarter of the weight, rounded up: what fees are counted by. */
  readonly virtualSize: number;
}

/** Decodes all of a transaction. */
export function describeTx(tx: BitcoinTx): DescribedTx {
  const { raw } = tx;
  const body = new Cursor(raw, tx.bodyStart, tx.bodyEnd);
  const witnesses = new Cursor(raw, tx.bodyEnd, tx.witnessEnd);
  const inputs: Omit<TxInput, 'witness'>[] = [];
  for (let count = body.compact(); count > 0; count--) inputs.push(readInput(body));
  const outputs: TxOutput[] = [];
  for (let i = 0, count = body.compact(); i < count; i++) {
    const start = body.at;
    outputs.push({ ...readDescribed(body), index: i, start, end: body.at });
  }
  return {
    id: tx.id,
    witnessId: tx.witnessId,
    version: readU32LE(raw, tx.start) | 0,
    lockTime: readU32LE(raw, tx.lockTimeAt),
    coinbase: tx.coinbase,
    inputs: inputs.map((input) => ({ ...input, witness: tx.hasWitness ? readWitness(witnesses) : NO_WITNESS })),
    outputs,
    size: tx.size,
    strippedSize: tx.strippedSize,
    weight: tx.weight,
    virtualSize: Math.ceil(tx.weight / 4),
  };
}

/** The outputs of a transaction alone, those nobody can spend included. */
export function txOutputs({ raw, bodyStart, bodyEnd }: BitcoinTx): readonly DescribedOutput[] {
  const body = new Cursor(raw, bodyStart, bodyEnd);
  for (let count = body.compact(); count > 0; count--) readInput(body);
  return Array.from({ length: body.compact() }, () => readDescribed(body));
}

/** An output as it stood in a block and stands in the store. */
export function describeOutput(raw: Uint8Array, start = 0, end = raw.length): DescribedOutput {
  const c = new Cursor(raw, start, end);
  const output = readDescribed(c);
  if (c.left > 0) c.fail('bytes after the end of the output');
  return output;
}

function readDescribed(c: Cursor): DescribedOutput {
  c.u64();
  const value = (BigInt(c.hi) << 32n) | BigInt(c.lo);
  return { value, script: c.run() };
}

function readInput(c: Cursor): Omit<TxInput, 'witness'> {
  const at = c.take(HASH_BYTES);
  const txId = c.bytes.subarray(at, at + HASH_BYTES);
  const index = c.u32();
  const scriptSig = c.run();
  return { txId, index, scriptSig, sequence: c.u32() };
}

function readWitness(c: Cursor): readonly Uint8Array[] {
  const items: Uint8Array[] = [];
  for (let count = c.compact(); count > 0; count--) items.push(c.run());
  return items;
}
