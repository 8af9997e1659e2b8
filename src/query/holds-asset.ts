/**
 * Whether an output holds an asset, for lists that are found by another key and
 * narrowed down row by row.
 */
import type { OutputTraits } from '../ledgers/ledger.ts';
import { equalBytes } from '../util/bytes.ts';

/** `raw` is the output as it stood in its block; `name` null: any asset of the policy. */
export function holdsAsset(traits: OutputTraits, raw: Uint8Array, policy: Uint8Array, name: Uint8Array | null): boolean {
  let held = false;
  if (traits.isPlain(raw, 0, raw.length)) return held;
  traits.assets(raw, 0, raw.length, (itsPolicy, itsName) => {
    held ||= equalBytes(itsPolicy, policy) && (name === null || equalBytes(itsName, name));
  });
  return held;
}
