/**
 * A digest of the whole unspent set, as the oracles compute it: sha256 over the
 * lines `<txid hex>#<index> <value>\n` in ascending order of the key string. Ids
 * are in the order in which they are stored, whichever way people write them.
 */
import { createHash } from 'node:crypto';
import type { Reader } from '../engine/engine.ts';
import { outpointIndex, TXID_BYTES } from '../ledgers/outpoint.ts';
import { AT } from '../projections/coin.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { readBigU64, toHex } from '../util/bytes.ts';
import { DIGEST_TEXT_CHARACTERS } from '../util/limits.ts';

/** Count, sum and digest of an unspent set; equal sets have equal digests. */
export interface Digest {
  /** How many unspent outputs there are. */
  readonly utxos: number;
  /** The sum of their values in the chain's smallest unit. */
  readonly value: bigint;
  /** SHA-256 over one line for each output (docs/reference/cli.md), in hex. */
  readonly digest: string;
}

/** The digest of rows that come one by one, in the order of their keys. */
export class DigestSum {
  private readonly hash = createHash('sha256');
  private id = '';
  /** Of the transaction with that id. */
  private lines: string[] = [];
  /** Lines in order that are not hashed yet: a call for each would cost more than the hash. */
  private text = '';
  utxos = 0;
  value = 0n;

  /** An outpoint at `keyAt` of `key`, and its stored value at `at` of `bytes`. */
  add(key: Uint8Array, keyAt: number, bytes: Uint8Array, at: number): void {
    const txId = toHex(key, keyAt, keyAt + TXID_BYTES);
    if (txId !== this.id) {
      this.flush();
      this.id = txId;
    }
    const amount = readBigU64(bytes, at + AT.value);
    this.lines.push(`${txId}#${outpointIndex(key, keyAt)} ${amount}\n`);
    this.value += amount;
    this.utxos++;
  }

  end(): Digest {
    this.flush();
    this.hash.update(this.text);
    this.text = '';
    return { utxos: this.utxos, value: this.value, digest: this.hash.digest('hex') };
  }

  private flush(): void {
    // Stored order is by number, the digest's is by text: "#10" before "#2".
    if (this.lines.length > 1) this.lines.sort();
    for (const line of this.lines) this.text += line;
    this.lines = [];
    if (this.text.length < DIGEST_TEXT_CHARACTERS) return;
    this.hash.update(this.text);
    this.text = '';
  }
}

export function digestOf(reader: Reader, onRows?: (rows: number) => void): Digest {
  const sum = new DigestSum();
  for (const [key, bytes] of reader.scan(UNSPENT)) {
    sum.add(key, 0, bytes, 0);
    if (onRows !== undefined && sum.utxos % 100_000 === 0) onRows(sum.utxos);
  }
  return sum.end();
}
