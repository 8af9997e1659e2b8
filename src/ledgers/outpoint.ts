/**
 * An outpoint names an output: the id of its transaction and its index there.
 *
 * As a key of the store: transaction id, then the index, big-endian, so that the
 * outputs of a transaction stand together and in order. Nothing else knows how
 * wide an index is (docs/adr/0021).
 *
 *   0  transaction id 32   32  output index u32
 *
 * As text: `txid#index`. The command line and the HTTP API read it here.
 */
import { copyBytes, fromHex, isHex, readU32, toHex, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

export const TXID_BYTES = 32;
export const OUTPUT_INDEX_BYTES = 4;
export const OUTPOINT_BYTES = TXID_BYTES + OUTPUT_INDEX_BYTES;

/** Bitcoin writes an index in four bytes; Cardano's ledger has two, Byron's format four. */
export const OUTPUT_INDEX_MAX = 0xffff_ffff;

/** An output by name. */
export interface Outpoint {
  /** The id of its transaction: 32 bytes in the order of the chain. */
  readonly txId: Uint8Array;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
}

/** `txid#index`. `parseId` turns the id as text into bytes, in the order of the chain's family. Throws USAGE. */
export function parseOutpoint(text: string, parseId: (id: string) => Uint8Array = fromHex): Outpoint {
  const [, id, digits] = /^([^#]*)#(\d+)$/.exec(text) ?? [];
  if (id === undefined || digits === undefined || !isHex(id, TXID_BYTES)) {
    throw new UnspentError('USAGE', `an outpoint is TXID#INDEX with ${2 * TXID_BYTES} hex digits, not '${text.slice(0, 120)}'`);
  }
  return { txId: parseId(id), index: parseOutputIndex(digits) };
}

/** `txid#index`, the id as the chain orders its bytes. */
export function outpointText({ txId, index }: Outpoint): string {
  return `${toHex(txId)}#${index}`;
}

/** For readers. Throws USAGE for a number that no output can have, because cut to four bytes it would name another output. */
export function outpointKey(txId: Uint8Array, index: number): Uint8Array {
  if (txId.length !== TXID_BYTES) throw new UnspentError('USAGE', `a transaction id has ${TXID_BYTES} bytes, not ${txId.length}`);
  if (!isOutputIndex(index)) throw new UnspentError('USAGE', `an output has a number from 0 to ${OUTPUT_INDEX_MAX}, not ${index}`);
  const key = new Uint8Array(OUTPOINT_BYTES);
  writeOutpoint(key, 0, txId, 0, index);
  return key;
}

function isOutputIndex(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index <= OUTPUT_INDEX_MAX;
}

/** A number as people write it. Throws USAGE. */
export function parseOutputIndex(text: string): number {
  const index = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (!isOutputIndex(index))
    throw new UnspentError('USAGE', `an output has a number from 0 to ${OUTPUT_INDEX_MAX}, not '${text.slice(0, 80)}'`);
  return index;
}

/** Writes OUTPOINT_BYTES at `at`; the id stands at `idAt` in `ids`. */
export function writeOutpoint(to: Uint8Array, at: number, ids: Uint8Array, idAt: number, index: number): void {
  copyBytes(ids, idAt, to, at, TXID_BYTES);
  writeU32(to, at + TXID_BYTES, index);
}

/** The output index of the outpoint at `at`. */
export function outpointIndex(bytes: Uint8Array, at = 0): number {
  return readU32(bytes, at + TXID_BYTES);
}

/** The 32 bytes of the transaction id of the outpoint at `at`, as a view. */
export function outpointTxId(bytes: Uint8Array, at = 0): Uint8Array {
  return bytes.subarray(at, at + TXID_BYTES);
}

/** An index alone, as rows have it that name the transaction elsewhere. */
export const readOutputIndex = readU32;
export const writeOutputIndex = writeU32;
