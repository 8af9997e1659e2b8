/**
 * Transactions and blocks as bytes: BIP144's form where there are witnesses,
 * the coinbase with its height (BIP34) and its commitment to the witnesses
 * (BIP141), and a header that has the proof of work regtest asks for.
 */

import { sha256d } from '../../../crypto/sha256.ts';
import { compactBytes } from '../../../ledgers/bitcoin/cursor.ts';
import { merkleRoot } from '../../../ledgers/bitcoin/proof.ts';
import { OPCODE } from '../../../ledgers/bitcoin/script.ts';
import { concatBytes, fromHex, writeU32LE } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import type { Unlocking } from './scripts.ts';

export interface DraftInput extends Unlocking {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly sequence: number;
}

export interface DraftOutput {
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface Draft {
  readonly inputs: readonly DraftInput[];
  readonly outputs: readonly DraftOutput[];
  readonly lockTime: number;
}

/** What a block is made from besides its transactions. */
export interface BlockPlace {
  readonly prevHash: Uint8Array;
  readonly height: number;
  readonly time: number;
  /** The subsidy and all fees, and who gets them. */
  readonly reward: DraftOutput;
  /** Whatever tells two blocks of one place apart; 75 bytes at most. */
  readonly extra: Uint8Array;
}

const BLOCK_VERSION = 0x2000_0000;
const TX_VERSION = 2;
export const REGTEST_BITS = 0x207f_ffff;
/** The three highest bytes of the largest hash that bits 207fffff allow. */
const TARGET_TOP = 0x7f_ffff;
const MARKER_AND_FLAG = Uint8Array.of(0, 1);
const SALT = new Uint8Array(32);
const NO_OUTPUT = 0xffff_ffff;
const FINAL = 0xffff_ffff;
const COMMITMENT_HEAD = fromHex('6a24aa21a9ed');

export function encodeTx({ inputs, outputs, lockTime }: Draft): Uint8Array {
  const hasWitness = inputs.some(({ witness }) => witness.length > 0);
  return concatBytes(
    u32(TX_VERSION),
    ...(hasWitness ? [MARKER_AND_FLAG] : []),
    compactBytes(inputs.length),
    ...inputs.flatMap(({ txId, index, scriptSig, sequence }) => [txId, u32(index), ...run(scriptSig), u32(sequence)]),
    compactBytes(outputs.length),
    ...outputs.flatMap(({ value, script }) => [u64(value), ...run(script)]),
    ...(hasWitness ? inputs.flatMap(({ witness }) => [compactBytes(witness.length), ...witness.flatMap(run)]) : []),
    u32(lockTime),
  );
}

/** `txs`: with their ids and witness ids, parents first. */
export function encodeBlock(
  place: BlockPlace,
  txs: readonly { readonly raw: Uint8Array; readonly id: Uint8Array; readonly witnessId: Uint8Array }[],
): Uint8Array {
  const commitment = sha256d(concatBytes(merkleRoot([SALT, ...txs.map(({ witnessId }) => witnessId)]).root, SALT));
  const outputs = [place.reward, { value: 0n, script: concatBytes(COMMITMENT_HEAD, commitment) }];
  const script = concatBytes(heightPush(place.height), Uint8Array.of(place.extra.length), place.extra);
  const input = { txId: SALT, index: NO_OUTPUT, scriptSig: script, sequence: FINAL };
  const coinbase = encodeTx({ inputs: [{ ...input, witness: [SALT] }], outputs, lockTime: 0 });
  const coinbaseId = sha256d(encodeTx({ inputs: [{ ...input, witness: [] }], outputs, lockTime: 0 }));
  const root = merkleRoot([coinbaseId, ...txs.map(({ id }) => id)]).root;
  const header = concatBytes(u32(BLOCK_VERSION), place.prevHash, root, u32(place.time), u32(REGTEST_BITS), u32(0));
  work(header);
  return concatBytes(header, compactBytes(txs.length + 1), coinbase, ...txs.map(({ raw }) => raw));
}

/** Tries nonces until the hash is small enough: every second one is. */
function work(header: Uint8Array): void {
  for (let nonce = 0; ; nonce++) {
    assert(nonce <= 0xffff, 'one nonce in two will do');
    writeU32LE(header, 76, nonce);
    const hash = sha256d(header);
    if (((hash[31] << 16) | (hash[30] << 8) | hash[29]) < TARGET_TOP) return;
  }
}

/** BIP34: the shortest push of the number. */
function heightPush(height: number): Uint8Array {
  assert(height > 0, 'nobody makes the first block');
  if (height <= 16) return Uint8Array.of(OPCODE.one + height - 1);
  const bytes: number[] = [];
  for (let rest = height; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  // The highest bit is the sign.
  if (bytes[bytes.length - 1] >= 0x80) bytes.push(0);
  return Uint8Array.of(bytes.length, ...bytes);
}

export function run(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [compactBytes(bytes.length), bytes];
}

export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeU32LE(bytes, 0, value);
  return bytes;
}

export function u64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}
