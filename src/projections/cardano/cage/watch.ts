/**
 * Which outputs may matter to a cage: asked of every output of a chain, so it
 * must cost next to nothing for those that do not. An output matters when it is
 * at a script of a cage, or at any script with a datum that may be a request.
 */
import { mayBeRequest } from '../../../ledgers/cardano/cage/index.ts';
import { KEY_BYTES, type OutputTraits } from '../../../ledgers/ledger.ts';
import { readU32 } from '../../../util/bytes.ts';
import { type Coin, keyOffset, outputOffset } from '../../coin.ts';

export class CageWatch {
  private readonly traits: OutputTraits;
  /** Script hashes by their first four bytes. More than there are do no harm: what is let through is looked at again. */
  private readonly scripts = new Map<number, Uint8Array[]>();

  constructor(traits: OutputTraits) {
    this.traits = traits;
  }

  add(scriptHash: Uint8Array): void {
    const first = readU32(scriptHash, 0);
    const alike = this.scripts.get(first) ?? [];
    if (alike.some((hash) => sameHash(hash, scriptHash, 0))) return;
    this.scripts.set(first, [...alike, scriptHash.slice()]);
  }

  mayMatter({ bytes, at, end }: Coin): boolean {
    const payment = keyOffset(bytes, at, 'payment');
    if (payment < 0) return false;
    const start = outputOffset(bytes, at);
    // CIP-19: the byte before the credential says what it is. A credential that is stored apart has lost that byte.
    if (payment > start && !isScript(bytes[payment - 1])) return false;
    if (this.isWatched(bytes, payment)) return true;
    const datum = this.traits.datumBytes(bytes, start, end);
    return datum !== null && mayBeRequest(datum);
  }

  private isWatched(bytes: Uint8Array, at: number): boolean {
    const alike = this.scripts.get(readU32(bytes, at));
    return alike?.some((hash) => sameHash(hash, bytes, at)) ?? false;
  }
}

function isScript(addressHead: number): boolean {
  return ((addressHead >> 4) & 1) === 1;
}

function sameHash(hash: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (hash[i] !== bytes[at + i]) return false;
  return true;
}

/** The payment credential of an address, if it is that of a script. */
export function scriptHashOf(address: Uint8Array): Uint8Array | null {
  const isPayment = address.length > KEY_BYTES && address[0] >> 4 < 8;
  return isPayment && isScript(address[0]) ? address.subarray(1, 1 + KEY_BYTES) : null;
}
