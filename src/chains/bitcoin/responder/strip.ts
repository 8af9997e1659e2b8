/** Blocks and transactions as nodes from before the witnesses see them: without any. */
import { compactBytes } from '../../../ledgers/bitcoin/cursor.ts';
import { type BitcoinTx, decodeBlock, decodeTx, HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { concatBytes } from '../../../util/bytes.ts';

/** Of a block that decodes. Where it stands does not matter, except that it is not the first. */
export function strippedBlock(raw: Uint8Array, mweb: boolean): Uint8Array {
  const { txs } = decodeBlock(raw, 1, mweb);
  if (txs.every(({ extended }) => extended === 0)) return raw;
  return concatBytes(raw.subarray(0, HEADER_BYTES), compactBytes(txs.length), ...txs.flatMap(parts));
}

export function strippedTx(raw: Uint8Array, mweb: boolean): Uint8Array {
  const tx = decodeTx(raw, mweb);
  return tx.extended === 0 ? raw : concatBytes(...parts(tx));
}

/** Version, inputs and outputs, lock time. */
function parts({ raw, start, bodyStart, bodyEnd, lockTimeAt, end }: BitcoinTx): Uint8Array[] {
  return [raw.subarray(start, start + 4), raw.subarray(bodyStart, bodyEnd), raw.subarray(lockTimeAt, end)];
}
