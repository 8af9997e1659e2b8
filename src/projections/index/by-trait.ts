/**
 * Unspent outputs by what only some of them carry: the policies and assets they
 * hold, their datum, their reference script. Rows are those of `by-key.ts`;
 * an output has one for each key of the kind:
 *
 *   policy  the policy id                 datum   first 28 bytes of the datum's hash
 *   asset   blake2b-224 of policy, name   script  hash of the reference script
 *
 * An output that is plain costs one cheap question and nothing else.
 */
import type { Batch } from '../../engine/engine.ts';
import { KEY_BYTES, type Ledger, type OutputTraits } from '../../ledgers/ledger.ts';
import { equalBytes, readU32 } from '../../util/bytes.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Coin, outputOffset } from '../coin.ts';
import type { Projection, Step } from '../projection.ts';
import { inWriteOrder } from '../write-order.ts';
import { assetKey, datumKey, INDEX_KEY_BYTES, indexColumn, rowValues, type TraitKind, writeRowKey } from './by-key.ts';

type Finder = (traits: OutputTraits, raw: Uint8Array, start: number, end: number) => readonly Uint8Array[];

const NONE: readonly Uint8Array[] = Object.freeze([]);

const FIND: Readonly<Record<TraitKind, Finder>> = {
  policy(traits, raw, start, end) {
    const keys: Uint8Array[] = [];
    traits.assets(raw, start, end, (policy) => addOnce(keys, policy));
    return keys;
  },
  asset(traits, raw, start, end) {
    const keys: Uint8Array[] = [];
    traits.assets(raw, start, end, (policy, name) => addOnce(keys, assetKey(policy, name)));
    return keys;
  },
  datum(traits, raw, start, end) {
    const hash = traits.datumHash(raw, start, end);
    return hash === null ? NONE : [datumKey(hash)];
  },
  script(traits, raw, start, end) {
    const script = traits.referenceScript(raw, start, end);
    return script === null ? NONE : [script.hash];
  },
};

/** Newest first: the assets of a policy mostly stand together. */
function addOnce(keys: Uint8Array[], key: Uint8Array): void {
  for (let i = keys.length - 1; i >= 0; i--) if (equalBytes(keys[i], key)) return;
  keys.push(key);
}

/** The keys of this kind that the output in a stored value has, each once. */
export function traitKeys(kind: TraitKind, traits: OutputTraits, stored: Uint8Array, at: number, end: number): readonly Uint8Array[] {
  const start = outputOffset(stored, at);
  return traits.isPlain(stored, start, end) ? NONE : FIND[kind](traits, stored, start, end);
}

interface Keyed {
  readonly coin: Coin;
  readonly key: Uint8Array;
}

export function traitIndexProjection(kind: TraitKind, traits: OutputTraits, ledger: Pick<Ledger, 'indexRows'>): Projection {
  const column = indexColumn(kind);
  const row = new Scratch(INDEX_KEY_BYTES);
  const valueFor = rowValues(ledger);

  function keyed(batch: Batch, coins: readonly Coin[]): readonly Keyed[] {
    const found: Keyed[] = [];
    for (const coin of coins) for (const key of traitKeys(kind, traits, coin.bytes, coin.at, coin.end)) found.push({ coin, key });
    return inWriteOrder(batch, found, ({ key }) => readU32(key, 0));
  }

  function move(step: Step, batch: Batch): undefined {
    for (const { coin, key } of keyed(batch, step.removed)) batch.del(column, writeRowKey(key, 0, coin, row));
    for (const { coin, key } of keyed(batch, step.added)) batch.put(column, writeRowKey(key, 0, coin, row), valueFor(coin));
  }

  return {
    name: `index.${kind}`,
    columns: [{ name: column, access: 'prefix', prefixBytes: KEY_BYTES, weight: 6 }],
    fillable: 'exact',
    apply: (step, _view, batch) => move(step, batch),
    revert: (step, _undo, _view, batch) => move(step, batch),
  };
}
