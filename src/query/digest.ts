/**
 * A digest of the whole unspent set, as the oracles compute it: sha256 over the
 * lines `<txid hex>#<index> <value>\n` in ascending order of the key string. Ids
 * are in the order in which they are stored, whichever way people write them.
 */
import { createHash } from 'node:crypto';
import type { Reader } from '../engine/engine.ts';
import { AT, TXID_BYTES } from '../projections/coin.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { readBigU64, readU16, toHex } from '../util/bytes.ts';

export interface Digest {
  readonly utxos: number;
  readonly value: bigint;
  readonly digest: string;
}

export function digestOf(reader: Reader, onRows?: (rows: number) => void): Digest {
  const hash = createHash('sha256');
  let utxos = 0;
  let value = 0n;
  let id = '';
  let lines: string[] = [];
  const flush = (): void => {
    // Stored order is by number, the digest's is by text: "#10" before "#2".
    if (lines.length > 1) lines.sort();
    for (const line of lines) hash.update(line);
    lines = [];
  };
  for (const [key, bytes] of reader.scan(UNSPENT)) {
    const txId = toHex(key, 0, TXID_BYTES);
    if (txId !== id) {
      flush();
      id = txId;
    }
    const amount = readBigU64(bytes, AT.value);
    lines.push(`${txId}#${readU16(key, TXID_BYTES)} ${amount}\n`);
    value += amount;
    utxos++;
    if (onRows !== undefined && utxos % 100_000 === 0) onRows(utxos);
  }
  flush();
  return { utxos, value, digest: hash.digest('hex') };
}
