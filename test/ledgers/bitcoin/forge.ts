/**
 * Makes blocks of the family for tests: whatever transactions are given, under
 * a header whose Merkle root is theirs. Work is done only where it is asked for.
 */

import { sha256d } from '../../../src/crypto/sha256.ts';
import { compactBytes } from '../../../src/ledgers/bitcoin/cursor.ts';
import { decodeTx, headerHash, merkleRoot } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, fromHex } from '../../../src/util/bytes.ts';

export interface ForgedInput {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly scriptSig?: Uint8Array;
  readonly witness?: readonly Uint8Array[];
}

export interface ForgedOutput {
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface ForgedTx {
  readonly inputs: readonly ForgedInput[];
  readonly outputs: readonly ForgedOutput[];
  /** Bytes of Litecoin's extension in front of the lock time. */
  readonly mweb?: Uint8Array;
}

export const OP_TRUE = Uint8Array.of(0x51);
export const NO_BYTES = new Uint8Array(0);

export function u32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
}

function u64(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

function run(bytes: Uint8Array): Uint8Array {
  return concatBytes(compactBytes(bytes.length), bytes);
}

export function forgeTx({ inputs, outputs, mweb }: ForgedTx): Uint8Array {
  const hasWitness = inputs.some(({ witness }) => witness !== undefined);
  const flags = (hasWitness ? 1 : 0) | (mweb === undefined ? 0 : 8);
  const witness = (items: readonly Uint8Array[]): Uint8Array => concatBytes(compactBytes(items.length), ...items.map(run));
  return concatBytes(
    u32(2),
    flags === 0 ? NO_BYTES : Uint8Array.of(0, flags),
    compactBytes(inputs.length),
    ...inputs.map(({ txId, index, scriptSig = NO_BYTES }) => concatBytes(txId, u32(index), run(scriptSig), u32(0xffff_ffff))),
    compactBytes(outputs.length),
    ...outputs.map(({ value, script }) => concatBytes(u64(value), run(script))),
    ...(hasWitness ? inputs.map((input) => witness(input.witness ?? [])) : []),
    mweb ?? NO_BYTES,
    u32(0),
  );
}

/** A coinbase that says its height and, when asked to, commits to the witnesses of the other transactions. */
export function forgeCoinbase(height: number, outputs: readonly ForgedOutput[], others?: readonly Uint8Array[]): Uint8Array {
  const input = { txId: new Uint8Array(32), index: 0xffff_ffff, scriptSig: concatBytes(heightPush(height), Uint8Array.of(0)) };
  if (others === undefined) return forgeTx({ inputs: [input], outputs });
  const salt = new Uint8Array(32).fill(0x5a);
  const leaves = [new Uint8Array(32), ...others.map((tx) => decodeTx(tx, true).witnessId)];
  const committed = sha256d(concatBytes(merkleRoot(leaves).root, salt));
  const commitment = { value: 0n, script: concatBytes(fromHex('6a24aa21a9ed'), committed) };
  return forgeTx({ inputs: [{ ...input, witness: [salt] }], outputs: [...outputs, commitment] });
}

/** The shortest push of a number that is not negative. */
function heightPush(height: number): Uint8Array {
  if (height >= 1 && height <= 16) return Uint8Array.of(0x50 + height);
  const bytes: number[] = [];
  for (let rest = height; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  if (bytes.length > 0 && bytes[bytes.length - 1] >= 0x80) bytes.push(0);
  return Uint8Array.of(bytes.length, ...bytes);
}

export function forgeBlock(prevHash: Uint8Array, txs: readonly Uint8Array[], tail: Uint8Array = NO_BYTES): Uint8Array {
  const { root } = merkleRoot(txs.map((tx) => decodeTx(tx, true).id));
  const header = concatBytes(u32(0x2000_0000), prevHash, root, u32(1_700_000_000), u32(0x207fffff), u32(0));
  return concatBytes(header, compactBytes(txs.length), ...txs, tail);
}

const TIME_AT = 68;
const NONCE_AT = 76;

/** The same block at another time. */
export function atTime(raw: Uint8Array, time: number): Uint8Array {
  const bytes = Uint8Array.from(raw);
  bytes.set(u32(time), TIME_AT);
  return bytes;
}

/** Finds a nonce for which the hash, as a number, is below half of all: regtest's target. */
export function withWork(raw: Uint8Array, highest = 0x7f): Uint8Array {
  const bytes = Uint8Array.from(raw);
  for (let nonce = 0; ; nonce++) {
    bytes.set(u32(nonce), NONCE_AT);
    if (headerHash(bytes)[31] < highest) return bytes;
  }
}
