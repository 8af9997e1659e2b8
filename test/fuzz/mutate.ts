/**
 * Damage, made from a seed: the same seed and number give the same bytes again.
 */

/** A small generator of numbers (mulberry32): enough for damage, and the same everywhere. */
export class Dice {
  private state: number;

  constructor(seed: number, number: number) {
    this.state = (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(number + 1, 0x85eb_ca6b)) >>> 0;
  }

  /** A whole number from 0 up to, not including, `bound`. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b_79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * bound);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)];
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }
}

/** Heads that ask for much, end early, or begin what never ends. */
const HEADS: readonly (readonly number[])[] = [
  [0x00],
  [0xff],
  [0xf6],
  [0x5f],
  [0x7f],
  [0x9f],
  [0xbf],
  [0xc2],
  [0xd8, 0x18],
  [0xd9, 0x01, 0x02],
  [0x18, 0xff],
  [0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x1b, 0x00, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x5a, 0xff, 0xff, 0xff, 0xff],
  [0x5b, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00],
  [0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x9a, 0x7f, 0xff, 0xff, 0xff],
  [0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xba, 0x80, 0x00, 0x00, 0x00],
  [0xbb, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff],
  [0xdb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x1c],
  [0xfc],
];

function join(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

type Damage = (bytes: Uint8Array, dice: Dice, another: Uint8Array) => Uint8Array;

const DAMAGES: readonly Damage[] = [
  // Bits flipped.
  (bytes, dice) => {
    const out = bytes.slice();
    for (let n = 1 + dice.below(4); n > 0 && out.length > 0; n--) out[dice.below(out.length)] ^= 1 << dice.below(8);
    return out;
  },
  // Bytes set.
  (bytes, dice) => {
    const out = bytes.slice();
    for (let n = 1 + dice.below(3); n > 0 && out.length > 0; n--) out[dice.below(out.length)] = dice.pick(dice.pick(HEADS));
    return out;
  },
  // A head in place of a byte.
  (bytes, dice) => {
    const at = dice.below(bytes.length);
    return join(bytes.subarray(0, at), dice.pick(HEADS), bytes.subarray(at + 1));
  },
  // A head or noise put in.
  (bytes, dice) => {
    const at = dice.below(bytes.length + 1);
    return join(bytes.subarray(0, at), dice.below(2) === 0 ? dice.pick(HEADS) : dice.bytes(1 + dice.below(16)), bytes.subarray(at));
  },
  // A run taken out.
  (bytes, dice) => {
    const at = dice.below(bytes.length);
    return join(bytes.subarray(0, at), bytes.subarray(at + 1 + dice.below(40)));
  },
  // A run repeated elsewhere.
  (bytes, dice) => {
    const [from, at] = [dice.below(bytes.length), dice.below(bytes.length)];
    return join(bytes.subarray(0, at), bytes.subarray(from, from + dice.below(200)), bytes.subarray(at));
  },
  // Cut off.
  (bytes, dice) => bytes.slice(0, dice.below(bytes.length)),
  // The beginning of one, the end of another.
  (bytes, dice, another) => join(bytes.subarray(0, dice.below(bytes.length)), another.subarray(dice.below(another.length))),
  // A run overwritten by another's.
  (bytes, dice, another) => {
    const out = bytes.slice();
    const from = dice.below(another.length);
    const run = another.subarray(from, from + dice.below(64));
    const at = dice.below(out.length);
    out.set(run.subarray(0, out.length - at), at);
    return out;
  },
];

/** One to three kinds of damage, one upon the other. */
export function damage(bytes: Uint8Array, dice: Dice, another: Uint8Array): Uint8Array {
  let out = bytes;
  for (let n = dice.below(8) === 0 ? 3 : 1; n > 0 && out.length > 0; n--) out = dice.pick(DAMAGES)(out, dice, another);
  return out;
}

/** Noise that begins like a block half of the time. */
export function noise(dice: Dice): Uint8Array {
  const bytes = dice.bytes(dice.below(300));
  return dice.below(2) === 0 ? bytes : join([0x82, dice.below(9), 0x80 + dice.below(6)], bytes);
}

/** The same for text: characters dropped, doubled, swapped for telling ones. */
export function damageText(text: string, dice: Dice, telling: string): string {
  let out = text;
  for (let n = 1 + dice.below(3); n > 0; n--) {
    const at = dice.below(out.length + 1);
    const way = dice.below(5);
    if (way === 0) out = out.slice(0, at) + out.slice(at + 1 + dice.below(8));
    else if (way === 1) out = out.slice(0, at) + dice.pick([...telling]) + out.slice(at + 1);
    else if (way === 2) out = out.slice(0, at) + dice.pick([...telling]).repeat(1 + dice.below(30)) + out.slice(at);
    else if (way === 3) out = out.slice(0, at) + out.slice(dice.below(out.length + 1)).slice(0, 60) + out.slice(at);
    else out = out.slice(0, at);
  }
  return out;
}
