/**
 * A transaction of the Bitcoin family: where it stands in its bytes, what it
 * spends and what it creates. Whoever decodes one (`decode.ts`) has checked all
 * of it; here it is only read again.
 */
import { sha256d, sha256dWithout } from '../../crypto/sha256.ts';
import type { Create, Spend, Tx } from '../ledger.ts';
import { Cursor } from './cursor.ts';

/** Bits of `Create.flags`. */
export const OUTPUT_FLAG = { coinbase: 1 } as const;

const HASH_BYTES = 32;
export const LOCK_TIME_BYTES = 4;
/** Bits of the byte behind the marker of an extended transaction (BIP144; Litecoin's LIP-0003). */
export const EXTENDED = { witness: 1, mweb: 8 } as const;
/** Core's MAX_SCRIPT_SIZE: nothing can spend an output whose script is longer. */
const SCRIPT_BYTES_MAX = 10_000;
const OP_RETURN = 0x6a;
const NONE: readonly never[] = Object.freeze([]);
const NO_BYTES = new Uint8Array(0);

/**
 * A transaction, in a block or alone. What it spends and creates is read from its bytes each time it is asked for: a few
 * hundred thousand of these wait to be applied together, and what they hold is what garbage collection costs.
 */
export class BitcoinTx implements Tx {
  /** The bytes it stands in. */
  readonly raw: Uint8Array;
  /** Where it begins in them. */
  readonly start: number;
  /** Where it ends. */
  end = 0;
  /** 32 bytes in the order of a block; `formatId` writes it as people do. */
  id: Uint8Array = NO_BYTES;
  /** Where its inputs and outputs begin. */
  bodyStart = 0;
  /** Where its outputs begin, after their number. */
  outputsStart = 0;
  /** How many outputs it has, those included that can never be spent. */
  outputs = 0;
  /** Where its witnesses (or its lock time) begin. */
  bodyEnd = 0;
  /** Where its witnesses end. */
  witnessEnd = 0;
  /** Bits of EXTENDED; 0: the old form. */
  extended = 0;
  /** Whether it is a block's reward. */
  coinbase = false;
  /** Whether its outputs never enter the set, because the chain says so. */
  createsNothing = false;

  /** @internal */
  constructor(raw: Uint8Array, start: number) {
    this.raw = raw;
    this.start = start;
  }

  /** Always true. */
  get valid(): boolean {
    return true;
  }

  /** The outputs it consumes; none of a coinbase. Made anew each time it is asked for. */
  get spends(): readonly Spend[] {
    if (this.coinbase) return NONE;
    const c = new Cursor(this.raw, this.bodyStart, this.bodyEnd);
    const spends = new Array<Spend>(c.compact());
    for (let i = 0; i < spends.length; i++) {
      const at = c.take(HASH_BYTES);
      spends[i] = { at, index: c.u32() };
      c.span();
      c.take(4);
    }
    return spends;
  }

  /** Outputs that can ever be spent. Made anew each time it is asked for. */
  get creates(): readonly Create[] {
    if (this.createsNothing) return NONE;
    const c = new Cursor(this.raw, this.outputsStart, this.bodyEnd);
    const flags = this.coinbase ? OUTPUT_FLAG.coinbase : 0;
    const creates: Create[] = [];
    for (let index = 0; index < this.outputs; index++) {
      const create = readOutput(c, index, flags);
      if (!isUnspendable(this.raw, create.addressStart, create.addressEnd)) creates.push(create);
    }
    return creates;
  }

  /** Where its lock time is: four bytes before the end. */
  get lockTimeAt(): number {
    return this.end - LOCK_TIME_BYTES;
  }

  /** Whether it has witnesses. */
  get hasWitness(): boolean {
    return (this.extended & EXTENDED.witness) !== 0;
  }

  /** Litecoin: it has a part in the extension block. Inside a block that is the last one, which moves what enters and leaves. */
  get hasMweb(): boolean {
    return (this.extended & EXTENDED.mweb) !== 0;
  }

  /** The hash that covers the witnesses too. Recomputed each time it is asked for. */
  get witnessId(): Uint8Array {
    if (!this.hasWitness) return this.id;
    if (!this.hasMweb) return sha256d(this.raw, this.start, this.end);
    // Without the extension: the byte of flags says so, and what stands before the lock time is not there.
    const plain = this.raw.slice(this.start, this.end);
    plain[5] = EXTENDED.witness;
    const nothing = [plain.length, plain.length] as const;
    return sha256dWithout(plain, 0, plain.length, [this.witnessEnd - this.start, this.lockTimeAt - this.start], nothing);
  }

  /** Bytes without the witnesses: what the id covers. */
  get strippedSize(): number {
    return 8 + this.bodyEnd - this.bodyStart;
  }

  /** Its bytes. */
  get size(): number {
    return this.end - this.start;
  }

  /** BIP141: a byte outside the witnesses counts four times. */
  get weight(): number {
    return 3 * this.strippedSize + this.size;
  }
}

/** The output of that number, if it can ever be spent. They stand in order, with gaps where some cannot. */
export function createOf({ creates }: Tx, index: number): Create | undefined {
  let [low, high] = [0, creates.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (creates[middle].index < index) low = middle + 1;
    else high = middle;
  }
  return creates[low]?.index === index ? creates[low] : undefined;
}

/** Value and script: what is stored, byte for byte. The script is what an address is to other chains. */
export function readOutput(c: Cursor, index: number, flags: number): Create {
  const start = c.at;
  passOutput(c);
  const { hi: valueHi, lo: valueLo } = c;
  return { index, start, end: c.at, addressStart: c.start, addressEnd: c.stop, valueHi, valueLo, flags };
}

/** Leaves its value in the cursor's halves, and its script in its run. */
export function passOutput(c: Cursor): void {
  const start = c.at;
  c.u64();
  const { hi, lo } = c;
  if (hi > 0x7fff_ffff) c.fail('an output of less than nothing', start);
  c.span();
  c.hi = hi;
  c.lo = lo;
}

/** Core's `CScript::IsUnspendable`: such an output never enters the set. */
export function isUnspendable(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > SCRIPT_BYTES_MAX || (end > start && bytes[start] === OP_RETURN);
}
