/**
 * The set of unspent outputs in one row, kept as outputs come and go: MuHash3072
 * and bogosize, as a node's coin statistics index has them.
 *
 *   0  MuHash, 384 bytes (`muhash.ts`)   384  bogosize u64, big-endian
 *
 * Both depend on the set alone, so the row is the same however the blocks were
 * grouped and whatever was undone in between.
 */

import { MUHASH_BYTES, MuHash } from '../../crypto/muhash.ts';
import { concatBytes, copyBytes, readU64, writeU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { SetHash, SetHashUpdate, SetMember } from '../ledger.ts';
import { outpointIndex } from '../outpoint.ts';
import { bogosizeOf, COIN_HEAD_BYTES, writeCoinHead } from './commitment.ts';
import { formatId } from './ids.ts';
import { OUTPUT_FLAG } from './transaction.ts';

const STATE_BYTES = MUHASH_BYTES + 8;

function readState(state: Uint8Array | null): { readonly muhash: MuHash; readonly bogosize: number } {
  if (state === null) return { muhash: new MuHash(), bogosize: 0 };
  if (state.length !== STATE_BYTES)
    throw new UnspentError('STORE_DAMAGED', `the hash of the set has ${state.length} bytes, expected ${STATE_BYTES}`);
  return { muhash: MuHash.from(state.subarray(0, MUHASH_BYTES)), bogosize: readU64(state, MUHASH_BYTES) };
}

export const bitcoinSetHash: SetHash = {
  from: (state) => {
    const { muhash, bogosize } = readState(state);
    return new Move(muhash, bogosize);
  },
  summary: (state) => {
    const { muhash, bogosize } = readState(state);
    return { hash: formatId(muhash.digest()), bogosize };
  },
};

class Move implements SetHashUpdate {
  private readonly muhash: MuHash;
  private bogosize: number;
  private coin = new Uint8Array(256);

  constructor(muhash: MuHash, bogosize: number) {
    this.muhash = muhash;
    this.bogosize = bogosize;
  }

  add(member: SetMember): void {
    const end = this.write(member);
    this.muhash.add(this.coin, 0, end);
    this.bogosize += bogosizeOf(member.raw, member.start, member.end);
  }

  remove(member: SetMember): void {
    const end = this.write(member);
    this.muhash.remove(this.coin, 0, end);
    this.bogosize -= bogosizeOf(member.raw, member.start, member.end);
  }

  /** Writes the coin as it is hashed; returns where it ends. A long one needs another `coin`: look at that only afterwards. */
  private write({ keyBytes, keyAt, height, flags, raw, start, end }: SetMember): number {
    const length = COIN_HEAD_BYTES + end - start;
    if (length > this.coin.length) this.coin = new Uint8Array(2 * length);
    writeCoinHead(this.coin, keyBytes, keyAt, outpointIndex(keyBytes, keyAt), height, (flags & OUTPUT_FLAG.coinbase) !== 0);
    copyBytes(raw, start, this.coin, COIN_HEAD_BYTES, end - start);
    return length;
  }

  state(): Uint8Array {
    if (this.bogosize < 0) throw new UnspentError('STORE_DAMAGED', `the hash of the set would be of ${this.bogosize} bytes`);
    const size = new Uint8Array(8);
    writeU64(size, 0, this.bogosize);
    return concatBytes(this.muhash.toBytes(), size);
  }
}
