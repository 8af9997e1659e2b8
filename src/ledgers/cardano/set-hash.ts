/**
 * The set of unspent outputs in one row, kept as outputs come and go: MuHash3072
 * (`crypto/muhash.ts`, docs/adr/0014), 384 bytes. Cardano has no convention for
 * such a hash, so what stands for an output is ours:
 *
 *   0  transaction id 32   32  index u32 LE   36  slot u64 LE
 *   44 the output exactly as it stood in its block
 *
 * The slot is that of the block that brought it (of the first block for what
 * genesis grants): two stores that agree also agree on where outputs came from.
 */

import { MuHash } from '../../crypto/muhash.ts';
import { copyBytes, toHex, writeU32LE } from '../../util/bytes.ts';
import type { SetHash, SetHashUpdate, SetMember } from '../ledger.ts';
import { outpointIndex } from '../outpoint.ts';

const ID_BYTES = 32;
const HEAD_BYTES = ID_BYTES + 4 + 8;
const TWO_32 = 0x1_0000_0000;

export const cardanoSetHash: SetHash = {
  from: (state) => new Move(muhashOf(state)),
  summary: (state) => ({ hash: toHex(muhashOf(state).digest()) }),
};

function muhashOf(state: Uint8Array | null): MuHash {
  return state === null ? new MuHash() : MuHash.from(state);
}

class Move implements SetHashUpdate {
  private readonly muhash: MuHash;
  private element = new Uint8Array(512);

  constructor(muhash: MuHash) {
    this.muhash = muhash;
  }

  add(member: SetMember): void {
    const end = this.write(member);
    this.muhash.add(this.element, 0, end);
  }

  remove(member: SetMember): void {
    const end = this.write(member);
    this.muhash.remove(this.element, 0, end);
  }

  /** Returns where it ends. A long one needs another `element`: look at that only afterwards. */
  private write({ keyBytes, keyAt, slot, raw, start, end }: SetMember): number {
    const length = HEAD_BYTES + end - start;
    if (length > this.element.length) this.element = new Uint8Array(2 * length);
    const { element } = this;
    copyBytes(keyBytes, keyAt, element, 0, ID_BYTES);
    writeU32LE(element, ID_BYTES, outpointIndex(keyBytes, keyAt));
    writeU32LE(element, ID_BYTES + 4, slot >>> 0);
    writeU32LE(element, ID_BYTES + 8, Math.floor(slot / TWO_32));
    copyBytes(raw, start, element, HEAD_BYTES, end - start);
    return length;
  }

  state(): Uint8Array {
    return this.muhash.toBytes();
  }
}
