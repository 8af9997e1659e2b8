/**
 * How hard a block must be: targets and their short form in headers, the work
 * that a target stands for, and what the target of the next block is on each
 * network. Sources: Bitcoin Core's `pow.cpp` and `arith_uint256.cpp`, BIP94,
 * Litecoin Core's `pow.cpp`.
 *
 * A chain may be known only from some header on. Where the rule needs an older
 * one, it cannot say what the target is, and only bounds are checked.
 */
import type { WorkRules } from './networks.ts';

/** Blocks from one change of the target to the next. */
export const RETARGET_BLOCKS = 2016;
/** Blocks whose median time the next block must be later than. */
const MEDIAN_BLOCKS = 11;
/** Seconds by which the first block of a period may be earlier than the block before it (BIP94). */
const TIMEWARP_SECONDS = 600;
const WORD_MAX = 0x7f_ffffn;
const NONE = -1;

/** Headers by number, each with the number of its parent; -1: the parent is not known. */
export interface HeaderLine {
  height(number: number): number;
  time(number: number): number;
  bits(number: number): number;
  parent(number: number): number;
  /** The header at that height below `number`; -1: it is not known. */
  ancestor(number: number, height: number): number;
}

/** The target that the short form in a header stands for; null where it stands for none (Core's SetCompact). */
export function targetOf(bits: number): bigint | null {
  const size = bits >>> 24;
  const word = BigInt(bits & 0x7f_ffff);
  const target = size <= 3 ? word >> BigInt(8 * (3 - size)) : word << BigInt(8 * (size - 3));
  if (target === 0n || (bits & 0x80_0000) !== 0 || target >= 1n << 256n) return null;
  return target;
}

/** The short form of a target: its three highest bytes, cut off, never with the sign bit (Core's GetCompact). */
export function bitsOf(target: bigint): number {
  let size = Math.ceil(bitLength(target) / 8);
  let word = size <= 3 ? target << BigInt(8 * (3 - size)) : target >> BigInt(8 * (size - 3));
  if (word > WORD_MAX) {
    word >>= 8n;
    size++;
  }
  return (size * 2 ** 24 + Number(word)) >>> 0;
}

/** Expected tries until a hash is not above the target; 0 where there is none. */
export function workOf(bits: number): bigint {
  const target = targetOf(bits);
  return target === null ? 0n : (1n << 256n) / (target + 1n);
}

/** Whether a block with these bits and that time may follow `parent`. */
export function mayFollow(rules: WorkRules, line: HeaderLine, parent: number, { time, bits }: { time: number; bits: number }): boolean {
  const expected = nextBits(rules, line, parent, time);
  if (expected !== null) return bits === expected;
  const target = targetOf(bits);
  if (target === null || target > limitOf(rules)) return false;
  // On test networks the target may fall to the limit at any block, so that bounds say nothing.
  if (rules.easyWhenLate) return true;
  const before = line.bits(parent);
  const [hardest, easiest] = [0, Number.MAX_SAFE_INTEGER].map((seconds) => targetOf(retarget(rules, before, seconds)));
  return hardest !== null && easiest !== null && hardest <= target && target <= easiest;
}

/** The bits that the block after `parent` must have, given its time; null: it takes headers that are not known. */
export function nextBits(rules: WorkRules, line: HeaderLine, parent: number, time: number): number | null {
  const height = line.height(parent) + 1;
  if (rules.retarget === 'never') return rules.limitBits;
  if (height % RETARGET_BLOCKS !== 0) {
    if (!rules.easyWhenLate) return line.bits(parent);
    return time > line.time(parent) + 2 * rules.spacing ? rules.limitBits : lastRegularBits(line, parent, rules.limitBits);
  }
  const isFirst = height === RETARGET_BLOCKS;
  // Litecoin looks one block further back, so that the time from the last block of a period to the next is counted too.
  const back = rules.retarget === 'litecoin' && !isFirst ? RETARGET_BLOCKS + 1 : RETARGET_BLOCKS;
  const first = line.ancestor(parent, height - back);
  if (first === NONE) return null;
  const before = line.bits(rules.retarget === 'bip94' ? first : parent);
  return retarget(rules, before, line.time(parent) - line.time(first));
}

/** Of the newest block of the period that was not made easy for being late. */
function lastRegularBits(line: HeaderLine, from: number, limitBits: number): number | null {
  let at = from;
  while (line.height(at) % RETARGET_BLOCKS !== 0 && line.bits(at) === limitBits) {
    at = line.parent(at);
    if (at === NONE) return null;
  }
  return line.bits(at);
}

/** The bits of a new period, when the last one took so many seconds. */
export function retarget(rules: WorkRules, bits: number, seconds: number): number {
  const limit = limitOf(rules);
  const wanted = rules.spacing * RETARGET_BLOCKS;
  const taken = BigInt(Math.min(wanted * 4, Math.max(wanted / 4, seconds)));
  const old = targetOf(bits) ?? 0n;
  // Litecoin's target times its seconds would not fit in 256 bits: it drops the lowest bit, and so must we.
  const shift = rules.retarget === 'litecoin' && bitLength(old) > bitLength(limit) - 1 ? 1n : 0n;
  const target = (((old >> shift) * taken) / BigInt(wanted)) << shift;
  return target > limit ? rules.limitBits : bitsOf(target);
}

/** The time that the block after `parent` must be later than; null: it takes headers that are not known. */
export function medianTime(line: HeaderLine, parent: number): number | null {
  const times: number[] = [];
  for (let at = parent; times.length < MEDIAN_BLOCKS; at = line.parent(at)) {
    times.push(line.time(at));
    if (line.height(at) === 0) break;
    if (line.parent(at) === NONE && times.length < MEDIAN_BLOCKS) return null;
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/** Whether a block of that time after `parent` would make the next period seem longer than it was (BIP94). */
export function isTimewarp(rules: WorkRules, line: HeaderLine, parent: number, time: number): boolean {
  if (rules.retarget !== 'bip94' || (line.height(parent) + 1) % RETARGET_BLOCKS !== 0) return false;
  return time < line.time(parent) - TIMEWARP_SECONDS;
}

export function limitOf({ limitBits }: WorkRules): bigint {
  return targetOf(limitBits) as bigint;
}

function bitLength(number: bigint): number {
  if (number === 0n) return 0;
  const digits = number.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits[0], 16)) + 28;
}
