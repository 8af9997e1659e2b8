/**
 * Bytes as bech32 (BIP173) and bech32m (BIP350). Written here because a row of
 * most answers has two of them, and the library that reads them takes ten times
 * as long to write one. Reading stays with the library.
 */
import { asciiText } from './bytes.ts';

const CHARACTERS = Uint8Array.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l', (character) => character.charCodeAt(0));
const SEPARATOR = '1'.charCodeAt(0);
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_CHARS = 6;
/** What the checksum of a whole text is, by its form. */
const FINAL = { bech32: 1, bech32m: 0x2bc830a3 } as const;

/** What the five bits that leave the checksum at its top add to it. */
const FEEDBACK = Uint32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0),
);

/** Texts are written here where they fit. */
const scratch = new Uint8Array(512);

export interface Bech32Options {
  /** A group of five bits before those of the bytes: the version of a witness program. */
  readonly first?: number;
  readonly form?: 'bech32' | 'bech32m';
}

/** Of any length: only addresses of the Bitcoin family are bounded, and theirs are short. */
export function encodeBech32(prefix: string, bytes: Uint8Array, { first, form = 'bech32' }: Bech32Options = {}): string {
  const room = prefix.length + 2 + Math.ceil((bytes.length * 8) / 5) + CHECKSUM_CHARS;
  const out = room <= scratch.length ? scratch : new Uint8Array(room);
  let sum = writePrefix(prefix, out);
  let at = prefix.length + 1;
  if (first !== undefined) {
    sum = next(sum, first);
    out[at++] = CHARACTERS[first];
  }
  let [bits, held] = [0, 0];
  for (let i = 0; i < bytes.length; i++) {
    bits = ((bits << 8) | bytes[i]) & 0xfff;
    for (held += 8; held >= 5; ) {
      held -= 5;
      const group = (bits >>> held) & 31;
      sum = next(sum, group);
      out[at++] = CHARACTERS[group];
    }
  }
  if (held > 0) {
    const group = (bits << (5 - held)) & 31;
    sum = next(sum, group);
    out[at++] = CHARACTERS[group];
  }
  for (let i = 0; i < CHECKSUM_CHARS; i++) sum = next(sum, 0);
  sum ^= FINAL[form];
  for (let shift = 5 * (CHECKSUM_CHARS - 1); shift >= 0; shift -= 5) out[at++] = CHARACTERS[(sum >>> shift) & 31];
  return asciiText(out, 0, at);
}

function next(sum: number, group: number): number {
  return ((sum & 0x1ffffff) << 5) ^ group ^ FEEDBACK[sum >>> 25];
}

/** Returns the checksum so far: over the high bits of the prefix, a zero, and its low bits. */
function writePrefix(prefix: string, out: Uint8Array): number {
  let sum = 1;
  for (let i = 0; i < prefix.length; i++) sum = next(sum, prefix.charCodeAt(i) >> 5);
  sum = next(sum, 0);
  for (let i = 0; i < prefix.length; i++) {
    const code = prefix.charCodeAt(i);
    sum = next(sum, code & 31);
    out[i] = code;
  }
  out[prefix.length] = SEPARATOR;
  return sum;
}
