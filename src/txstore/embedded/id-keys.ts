/**
 * Ids as keys of one lookup, in views that are made once: to hand the engine
 * arrays that it has not seen yet costs a third of a lookup that finds nothing.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes } from '../../util/bytes.ts';

const KEYS_MIN = 1024;
/** Ids of larger lookups are handed over as they are. */
const KEYS_MAX = 8192;

class KeyViews {
  private bytes = new Uint8Array(0);
  private views: readonly Uint8Array[] = [];

  of(txIds: readonly Uint8Array[]): readonly Uint8Array[] {
    if (txIds.length > this.views.length) this.grow(Math.max(KEYS_MIN, 2 ** Math.ceil(Math.log2(txIds.length))));
    for (let n = 0; n < txIds.length; n++) copyBytes(txIds[n], 0, this.bytes, TXID_BYTES * n, TXID_BYTES);
    return this.views.slice(0, txIds.length);
  }

  private grow(count: number): void {
    const bytes = new Uint8Array(TXID_BYTES * count);
    this.bytes = bytes;
    this.views = Array.from({ length: count }, (_, n) => bytes.subarray(TXID_BYTES * n, TXID_BYTES * (n + 1)));
  }
}

const views = new KeyViews();

/** Good until the next call. */
export function idKeys(txIds: readonly Uint8Array[]): readonly Uint8Array[] {
  return txIds.length > KEYS_MAX ? txIds : views.of(txIds);
}
