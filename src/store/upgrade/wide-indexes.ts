/**
 * Schema 1 to 2: the index of an output was u16 in every key and is u32 (ADR 21).
 *
 *   utxo_unspent        txid 32 | index         key
 *   utxo_spent          the same; and the input of the spender, at 32 of the value
 *   utxo_address, ...   key 28 | slot u64 | tx index u32 | index
 *   delta               an outpoint for each output that the block spent
 *
 * What hashes are made of did not change, so roots and digests stay.
 */
import type { Row } from '../../engine/engine.ts';
import { INDEX_KINDS, indexColumn } from '../../projections/index/by-key.ts';
import { DELTA } from '../../projections/projection.ts';
import { SPENT, UNSPENT } from '../../projections/utxo.ts';
import { concatBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { StoreIdentity } from '../identity.ts';
import { rewrittenDelta } from './rewritten-delta.ts';
import type { UpgradeStep } from './steps.ts';

const TXID_BYTES = 32;
const OLD_OUTPOINT = TXID_BYTES + 2;
/** key 28, slot u64, tx index u32. */
const PLACE_BYTES = 28 + 8 + 4;
const TWO_ZEROS = new Uint8Array(2);

/** Projections whose rows and undo records the step knows; whatever else a store of schema 1 keeps, it cannot take along. */
const KNOWN: readonly string[] = ['chain', 'transactions', 'utxo', ...INDEX_KINDS.map((kind) => `index.${kind}`)];

export const wideIndexes: UpgradeStep = {
  from: 1,
  what: 'output indexes become 32 bits wide, in keys, spent outputs and undo records; nothing is lost',
  check({ projections, selfContained }: StoreIdentity) {
    const others = projections.filter((name) => !KNOWN.includes(name));
    if (others.length > 0) throw unsupported(`it keeps ${others.join(', ')}`);
    if (selfContained) throw unsupported('its undo records carry the outputs they spent (utxo.delta.selfContained)');
  },
  columns: () => [
    { name: UNSPENT, rewrite: (row) => (row[0].length === OLD_OUTPOINT ? [widened(row[0], TXID_BYTES), row[1]] : row) },
    { name: SPENT, rewrite: (row) => (row[0].length === OLD_OUTPOINT ? spentRow(row) : row) },
    ...INDEX_KINDS.map((kind) => ({
      name: indexColumn(kind),
      rewrite: (row: Row): Row => (row[0].length === PLACE_BYTES + 2 ? [widened(row[0], PLACE_BYTES), row[1]] : row),
    })),
    { name: DELTA, rewrite: ([key, value]) => [key, widenedDelta(value)] },
  ],
};

function widened(bytes: Uint8Array, at: number): Uint8Array {
  return concatBytes(bytes.subarray(0, at), TWO_ZEROS, bytes.subarray(at));
}

/** The input of an output that the ledger itself removed is all ones, however wide. */
function spentRow([key, value]: Row): Row {
  const isLedgers = value[TXID_BYTES] === 0xff && value[TXID_BYTES + 1] === 0xff;
  const high = isLedgers ? Uint8Array.of(0xff, 0xff) : TWO_ZEROS;
  return [widened(key, TXID_BYTES), concatBytes(value.subarray(0, TXID_BYTES), high, value.subarray(TXID_BYTES))];
}

function widenedDelta(bytes: Uint8Array): Uint8Array {
  return rewrittenDelta(bytes, (from, to) => to.run(widened(from.run(OLD_OUTPOINT), TXID_BYTES)));
}

function unsupported(why: string): UnspentError {
  return new UnspentError('UNSUPPORTED', `a store of schema 1 cannot be upgraded where ${why}: sync anew`);
}
