/**
 * The flat encoding of Plutus programs: its bits, and the tags of terms and of
 * the types of constants.
 *
 * Source: the Plutus Core specification, appendix on flat serialisation.
 */
import { UnspentError } from '../../../util/errors.ts';

export const TERM_BITS = 4;
export const TERM = {
  variable: 0,
  delay: 1,
  lambda: 2,
  apply: 3,
  constant: 4,
  force: 5,
  error: 6,
  builtin: 7,
  constr: 8,
  match: 9,
} as const;
export const BUILTIN_BITS = 7;

export const TYPE_BITS = 4;
export const TYPE = { integer: 0, bytes: 1, string: 2, unit: 3, bool: 4, list: 5, pair: 6, apply: 7, data: 8 } as const;

export class BitReader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at === 8 * this.bytes.length;
  }

  bit(): number {
    const byte = this.bytes[this.at >> 3];
    if (byte === undefined) malformed('it is cut');
    return (byte >> (7 - (this.at++ & 7))) & 1;
  }

  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) value = (value << 1) | this.bit();
    return value;
  }

  /** Padding: zeros and then a one that ends a byte. */
  filler(): void {
    while (this.bit() === 0) if ((this.at & 7) === 0) malformed('its padding is longer than a byte');
    if ((this.at & 7) !== 0) malformed('its padding ends inside a byte');
  }
}

/** Where the type of a constant ends that begins at `at`: a list is `apply list T`, a pair `apply (apply pair A) B`. */
export function typeEnd(types: readonly number[], at: number): number {
  if (types[at] === undefined) malformed('it has a constant of a malformed type');
  if (types[at] !== TYPE.apply) return at + 1;
  if (types[at + 1] === TYPE.list) return typeEnd(types, at + 2);
  return typeEnd(types, typeEnd(types, at + 3));
}

export function malformed(why: string): never {
  throw new UnspentError('USAGE', `not a Plutus program in the flat encoding: ${why}`);
}
