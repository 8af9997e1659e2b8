/**
 * The index keys of an output that is not in an index: one spent since, whose
 * past is asked for. The same keys the projections write.
 */
import { KEY_BYTES, KEY_KINDS, type KeyKind, type OutputTraits } from '../ledgers/ledger.ts';
import { keyOffset } from '../projections/coin.ts';
import type { IndexKind } from '../projections/index/by-key.ts';
import { traitKeys } from '../projections/index/by-trait.ts';
import { UnspentError } from '../util/errors.ts';

const NONE: readonly Uint8Array[] = [];

/** Whether a key of this kind stands in the header of every output that has one. */
export function isKeyKind(kind: IndexKind): kind is KeyKind {
  return (KEY_KINDS as readonly string[]).includes(kind);
}

/** Every key of one kind of the output in the stored value `bytes[at..end]`, each once. */
export function outputKeys(
  bytes: Uint8Array,
  at: number,
  end: number,
  kind: IndexKind,
  traits: OutputTraits | null,
): readonly Uint8Array[] {
  if (isKeyKind(kind)) {
    const offset = keyOffset(bytes, at, kind);
    return offset < 0 ? NONE : [bytes.subarray(offset, offset + KEY_BYTES)];
  }
  if (traits === null) throw new UnspentError('UNSUPPORTED', `outputs of this ledger have no ${kind}`, { kind });
  return traitKeys(kind, traits, bytes, at, end);
}
