/**
 * What is checked of a header before it is taken into a tree: that its target
 * is the one the network's schedule asks for at its height, that its hash is
 * not above it, and that its time is later than the median of the eleven blocks
 * before it and not far in the future.
 *
 * Not checked: the signature in the blocks of signet, whose work anybody can
 * do; that takes running scripts, which is the node's business.
 */
import { scryptSync } from 'node:crypto';
import { isTimewarp, limitOf, mayFollow, medianTime, targetOf } from '../../ledgers/bitcoin/difficulty.ts';
import type { BitcoinNetwork } from '../../ledgers/bitcoin/index.ts';
import type { WorkRules } from '../../ledgers/bitcoin/networks.ts';
import { readU32LE } from '../../util/bytes.ts';
import type { HeaderTree } from './header-tree.ts';

const HASH_BYTES = 32;
const TIME_AT = 68;
const BITS_AT = 72;
/** Seconds that the clock of a miner may be ahead of ours: two hours, as nodes allow. */
const FUTURE_SECONDS = 2 * 60 * 60;
const SCRYPT = { N: 1024, r: 1, p: 1 } as const;

export class HeaderRules {
  private readonly rules: WorkRules;
  private lastBits = -1;
  private target: Uint8Array | null = null;

  constructor({ work }: BitcoinNetwork) {
    this.rules = work;
  }

  /** What is wrong with a header of 80 bytes after `parent`, as a sentence goes on; null: nothing. `now`: Unix seconds. */
  fault(tree: HeaderTree, parent: number, header: Uint8Array, hash: Uint8Array, now: number): string | null {
    const scheduled = this.scheduleFault(tree, parent, header);
    if (scheduled !== null) return scheduled;
    if (readU32LE(header, TIME_AT) > now + FUTURE_SECONDS) return 'is from the future (or our clock is wrong)';
    return this.hasWork(header, hash) ? null : 'has not the work that it claims';
  }

  /** The same without what depends on our clock, and without the work itself, which is dear for scrypt. */
  scheduleFault(tree: HeaderTree, parent: number, header: Uint8Array): string | null {
    const { rules } = this;
    const [time, bits] = [readU32LE(header, TIME_AT), readU32LE(header, BITS_AT)];
    if (!mayFollow(rules, tree, parent, { time, bits })) return `has bits ${bits.toString(16)}, which is not the target of its height`;
    const median = medianTime(tree, parent);
    if (median !== null && time <= median) return 'is not later than the blocks before it';
    return isTimewarp(rules, tree, parent, time) ? 'is earlier than the block before it by more than BIP94 allows' : null;
  }

  /** Whether the hash that counts is not above the target that the bits name. */
  hasWork(header: Uint8Array, hash: Uint8Array): boolean {
    const bits = readU32LE(header, BITS_AT);
    // The target is the same for thousands of headers.
    if (bits !== this.lastBits) {
      const target = targetOf(bits);
      this.target = target === null || target > limitOf(this.rules) ? null : toBytes(target);
      this.lastBits = bits;
    }
    return this.target !== null && isAtMost(this.rules.hash === 'scrypt' ? scryptOf(header) : hash, this.target);
  }
}

/** A quarter of a millisecond a header: five hundred of them for the two thousand of one message. */
function scryptOf(header: Uint8Array): Uint8Array {
  return scryptSync(header, header, HASH_BYTES, SCRYPT);
}

/** Both as numbers with their lowest byte first. */
function isAtMost(hash: Uint8Array, target: Uint8Array): boolean {
  for (let i = HASH_BYTES - 1; i >= 0; i--) if (hash[i] !== target[i]) return hash[i] < target[i];
  return true;
}

function toBytes(number: bigint): Uint8Array {
  return Uint8Array.from({ length: HASH_BYTES }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn));
}
