/**
 * The hash by which the body of a transaction binds what its scripts are run
 * with: redeemers, datums of the witness set, and the cost models of the
 * languages they are written in.
 *
 * CDDL: cardano-ledger, conway.cddl, `script_data_hash` and `language_views`.
 */
import { blake2b256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../util/bytes.ts';
import { CborWriter } from '../../util/cbor-write.ts';

/** As cost models number the languages. */
const PLUTUS_V1_LANGUAGE = 0;

export interface ScriptDataToHash {
  /** As they stand in the witness set. */
  readonly redeemers: Uint8Array;
  /** As they stand in the witness set; absent: there are none. */
  readonly datums?: Uint8Array;
  /** Of the languages that are used and no others, by their number: 0 is Plutus V1. */
  readonly costModels: ReadonlyMap<number, readonly bigint[]>;
}

export function scriptDataHash({ redeemers, datums = new Uint8Array(0), costModels }: ScriptDataToHash): Uint8Array {
  return blake2b256(concatBytes(redeemers, datums, languageViews(costModels)));
}

/** Shorter keys first. That of V1 is a byte string, and so is its list, which has no length: a mistake of Alonzo that later eras keep. */
function languageViews(costModels: ScriptDataToHash['costModels']): Uint8Array {
  const w = new CborWriter(4096).map(costModels.size);
  const later = [...costModels].filter(([language]) => language !== PLUTUS_V1_LANGUAGE).sort(([a], [b]) => a - b);
  for (const [language, model] of later) {
    w.uint(language).array(model.length);
    for (const cost of model) w.int(cost);
  }
  const first = costModels.get(PLUTUS_V1_LANGUAGE);
  if (first !== undefined) {
    const list = new CborWriter(4096).startArray();
    for (const cost of first) list.int(cost);
    w.bytes(Uint8Array.of(PLUTUS_V1_LANGUAGE)).bytes(list.end().take());
  }
  return w.take();
}
