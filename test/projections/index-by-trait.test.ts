/**
 * Indexes by what an output carries: one row for each key, each key once, and
 * keys that a reader can make by itself. Random chains are in test/property.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { assetKey, datumKey, type TraitKind } from '../../src/projections/index/by-key.ts';
import { traitIndexProjection } from '../../src/projections/index/by-trait.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { engineFor, ledger, makeCoin, move } from '../support/coins.ts';

const POLICY_A = 'aa'.repeat(28);
const POLICY_B = 'bb'.repeat(28);

const DATUM = fromHex('d87980');
const SCRIPT = fromHex('820142aabb');

const rich = makeCoin({
  tx: 7,
  index: 3,
  slot: 258,
  // Written in pieces, as no wallet does and the chain allows.
  assets: [
    [POLICY_A, '01', 5n],
    [POLICY_B, '', 1n],
    [POLICY_A, '02', 1n],
    [POLICY_A, '01', 9n],
    [POLICY_B, '09', 0n],
  ],
  datum: DATUM,
  script: SCRIPT,
});
const plain = makeCoin({ tx: 8 });

function rowsOf(kind: TraitKind, body: (at: { move: (added: (typeof rich)[], removed?: (typeof rich)[]) => void }) => void): string[] {
  const projection = traitIndexProjection(kind, ledger.traits!, ledger);
  const engine = engineFor(projection);
  body({ move: (added, removed) => move(engine, projection, added, removed) });
  return Array.from(engine.scan(`utxo_${kind}`), ([key, value]) => `${toHex(key)} ${toHex(value)}`);
}

/** Slot 258, transaction 7 of its block, output 3. */
const PLACE = '00000000000001020000000700000003';
const keys: Readonly<Record<TraitKind, readonly string[]>> = {
  policy: [POLICY_A, POLICY_B],
  asset: [`${POLICY_A}01`, `${POLICY_A}02`, POLICY_B].map((asset) => toHex(blake2b224(fromHex(asset)))),
  datum: [toHex(blake2b256(DATUM)).slice(0, 56)],
  script: [toHex(blake2b224(fromHex('01aabb')))],
};

describe('an index by what outputs carry', () => {
  for (const [kind, wanted] of Object.entries(keys) as [TraitKind, readonly string[]][]) {
    it(`has one row for each ${kind}`, () => {
      const rows = rowsOf(kind, (at) => at.move([rich, plain]));
      assert.deepEqual(rows, wanted.map((key) => `${key}${PLACE} `).sort());
    });

    it(`has none of ${kind} when the output is gone`, () => {
      assert.deepEqual(
        rowsOf(kind, (at) => {
          at.move([rich, plain]);
          at.move([], [plain, rich]);
        }),
        [],
      );
    });
  }

  it('is asked by keys that follow from what is looked for', () => {
    assert.equal(toHex(assetKey(fromHex(POLICY_A), fromHex('01'))), keys.asset[0]);
    assert.equal(toHex(datumKey(blake2b256(DATUM))), keys.datum[0]);
  });
});
