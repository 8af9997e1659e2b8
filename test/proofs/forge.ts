/**
 * Makes wrong proofs out of right ones: one random change somewhere inside. A
 * bit is flipped, bytes or a path get longer or shorter, a number moves, the
 * elements of a list are dropped, doubled, swapped, or taken from another proof.
 */
import { type Bits, bitsFromText, bitsToText } from '../../src/proofs/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import type { Dice } from './support.ts';

/** Text that is equal for equal proofs. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (part instanceof Uint8Array ? toHex(part) : part));
}

const isBits = (value: unknown): value is Bits =>
  typeof value === 'object' && value !== null && 'bytes' in value && 'length' in value && !Array.isArray(value);

/** Places where a change can be made, each as a way to make it. */
function changesIn(value: unknown, other: unknown, dice: Dice): (() => unknown)[] {
  if (value instanceof Uint8Array) return [() => changedBytes(value, dice)];
  if (typeof value === 'number') return [() => changedNumber(value, dice)];
  if (Array.isArray(value)) return changesInList(value, Array.isArray(other) ? other : [], dice);
  if (isBits(value)) return [() => changedBits(value, dice)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const beside = typeof other === 'object' && other !== null ? (other as Record<string, unknown>)[name] : undefined;
    return changesIn(part, beside, dice).map((change) => () => ({ ...value, [name]: change() }));
  });
}

function changesInList(list: readonly unknown[], other: readonly unknown[], dice: Dice): (() => unknown)[] {
  const inside = list.flatMap((part, i) => changesIn(part, other[i], dice).map((change) => () => list.with(i, change())));
  return [...inside, () => changedList(list, other, dice)];
}

function changedBytes(bytes: Uint8Array, dice: Dice): Uint8Array {
  if (bytes.length === 0 || dice.chance(6)) return dice.chance(2) ? bytes.slice(0, -1) : Uint8Array.of(...bytes, dice.below(256));
  const out = bytes.slice();
  out[dice.below(out.length)] ^= 1 << dice.below(8);
  return out;
}

function changedNumber(number: number, dice: Dice): number {
  return dice.pick([number + 1, number - 1, 2 * number, 0, number + dice.below(100), number + 0.5, -number, Number.NaN, 2 ** 40]);
}

function changedBits(bits: Bits, dice: Dice): Bits {
  if (dice.chance(8)) return { bytes: bits.bytes, length: bits.length + dice.pick([1, -1, 8]) };
  if (dice.chance(8)) return { bytes: changedBytes(bits.bytes, dice), length: bits.length };
  const text = bitsToText(bits);
  const at = dice.below(text.length + 1);
  const flipped = text[at] === '0' ? '1' : '0';
  const rest = text.slice(at + 1);
  const changed = dice.pick([text.slice(0, at) + flipped + rest, text.slice(0, at) + rest, text.slice(0, at) + flipped + text.slice(at)]);
  return bitsFromText(changed)!;
}

function changedList(list: readonly unknown[], other: readonly unknown[], dice: Dice): unknown[] {
  const [i, j] = [dice.below(list.length + 1), dice.below(list.length + 1)];
  const kind = dice.below(6);
  if (kind === 0) return list.filter((_, at) => at !== i);
  if (kind === 1) return [...list.slice(0, i + 1), ...list.slice(i)];
  if (kind === 2 && i < list.length && j < list.length) return list.with(i, list[j]).with(j, list[i]);
  if (kind === 3) return [...list].reverse();
  if (kind === 4 && i < list.length && other.length > 0) return list.with(i, dice.pick(other));
  return [...list.slice(0, i), ...other.slice(i)];
}

/** Tries after which a proof counts as one that cannot be changed: the empty proof beside another empty one. */
const TRIES = 100;

/** A proof that differs from this one in one place; `other` is another proof of the same kind. */
export function forge<T>(proof: T, other: T, dice: Dice): T {
  const before = textOf(proof);
  const ways = changesIn(proof, other, dice);
  for (let i = 0; i < TRIES; i++) {
    const changed = dice.pick(ways)() as T;
    if (textOf(changed) !== before) return changed;
  }
  return other;
}
