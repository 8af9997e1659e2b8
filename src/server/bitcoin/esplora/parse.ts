/**
 * What stands in a path of the Esplora API: hashes, numbers, and the two ways
 * to name a script. Whatever is not one is refused in the words that servers of
 * this API use, as USAGE (400).
 */
import { type BitcoinNetwork, parseAddress, parseId, scriptKey } from '../../../ledgers/bitcoin/index.ts';
import { KEY_BYTES } from '../../../ledgers/ledger.ts';
import { OUTPUT_INDEX_MAX } from '../../../ledgers/outpoint.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';

const HASH_BYTES = 32;

/** Of a transaction or of a block, in the order of its bytes in a block. */
export function hashOf(text: string): Uint8Array {
  if (!isHex(text, HASH_BYTES)) throw wrong('Invalid hex string');
  return parseId(text);
}

export function numberOf(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw wrong('Invalid number');
  return Number(text);
}

export function outputIndexOf(text: string): number {
  const index = numberOf(text);
  if (index > OUTPUT_INDEX_MAX) throw wrong('Invalid number');
  return index;
}

/** A script as a path names it: `/address/...` or `/scripthash/...`. */
export interface NamedScript {
  readonly by: 'address' | 'scripthash';
  readonly text: string;
  /** Its key in the index. */
  readonly key: Uint8Array;
}

export function scriptOf(network: BitcoinNetwork, by: NamedScript['by'], text: string): NamedScript {
  if (by === 'address') return { by, text, key: scriptKey(parseAddress(network, text)) };
  if (!isHex(text, HASH_BYTES)) throw wrong('Invalid scripthash');
  // The hash as it is, not turned round as ids are: that is Electrum's way.
  return { by, text, key: fromHex(text).subarray(0, KEY_BYTES) };
}

/** 400, in these words. */
export function wrong(words: string): UnspentError {
  return new UnspentError('USAGE', words);
}

/** 404, in these words. */
export function notFound(words: string): UnspentError {
  return new UnspentError('NOT_FOUND', words);
}
