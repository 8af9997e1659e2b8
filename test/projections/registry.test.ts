/**
 * Which projections a selection gives: each switch its own columns, nothing
 * without the unspent set, and a clear word where a ledger has nothing to keep.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openNetwork } from '../../src/families/networks.ts';
import { INDEX_KINDS } from '../../src/projections/index/by-key.ts';
import { type Selection, selectProjections } from '../../src/projections/registry.ts';
import { ledger } from '../support/coins.ts';
import { assertCode, KEEP_ALL } from '../support/harness.ts';

const indexes = Object.fromEntries(INDEX_KINDS.map((kind) => [kind, false])) as Selection['indexes'];
const NOTHING: Selection = { utxo: true, indexes, balances: false, datums: false, scripts: false };
const BASE = ['chain', 'transactions', 'utxo'];

const namesOf = (selection: Selection) => selectProjections(selection, ledger).map(({ name }) => name);

describe('the registry', () => {
  it('gives each switch what it stands for, and no other', () => {
    assert.deepEqual(namesOf(NOTHING), BASE);
    for (const kind of INDEX_KINDS)
      assert.deepEqual(namesOf({ ...NOTHING, indexes: { ...indexes, [kind]: true } }), [...BASE, `index.${kind}`]);
    assert.deepEqual(namesOf({ ...NOTHING, balances: true }), [...BASE, 'balance.address', 'balance.stake']);
    assert.deepEqual(namesOf({ ...NOTHING, datums: true }), [...BASE, 'datums']);
    assert.deepEqual(namesOf({ ...NOTHING, scripts: true }), [...BASE, 'scripts']);
    assert.deepEqual(namesOf({ ...KEEP_ALL, utxo: false }), ['chain', 'transactions']);
    assert.deepEqual(namesOf({ ...NOTHING, csmt: true }), [...BASE, 'csmt']);
    const bitcoin = selectProjections({ ...NOTHING, history: true, setHash: true, csmt: true }, openNetwork('bitcoin', null).ledger);
    assert.deepEqual(
      bitcoin.map(({ name, fillable }) => [name, fillable]),
      [...BASE.map((name) => [name, undefined]), ['history', undefined], ['setHash', 'exact'], ['csmt', 'exact']],
    );
  });

  it('has no column twice', () => {
    const columns = selectProjections(KEEP_ALL, ledger).flatMap((projection) => projection.columns.map(({ name }) => name));
    assert.equal(new Set(columns).size, columns.length);
    assert.equal(columns.length, 3 + 2 + INDEX_KINDS.length + 2 + 2 + 1);
  });

  it('says which can be switched on later', () => {
    const fillable = Object.fromEntries(selectProjections(KEEP_ALL, ledger).map((projection) => [projection.name, projection.fillable]));
    for (const name of BASE) assert.equal(fillable[name], undefined, name);
    for (const name of [...INDEX_KINDS.map((kind) => `index.${kind}`), 'balance.address', 'balance.stake', 'csmt'])
      assert.equal(fillable[name], 'exact', name);
    for (const name of ['datums', 'scripts']) assert.equal(fillable[name], 'outputs', name);
  });

  it('refuses what outputs of the ledger do not have, and only that', () => {
    const bare = { family: 'bitcoin', keyKinds: ['address'], traits: null, setHash: ledger.setHash } as const;
    const wanting: Selection[] = [
      ...(['policy', 'asset', 'datum', 'script'] as const).map((kind) => ({ ...NOTHING, indexes: { ...indexes, [kind]: true } })),
      { ...NOTHING, datums: true },
      { ...NOTHING, scripts: true },
      { ...NOTHING, history: true },
      { ...NOTHING, csmt: true },
    ];
    for (const selection of wanting) {
      assertCode(() => selectProjections(selection, bare), 'UNSUPPORTED');
      assert.equal(selectProjections({ ...selection, utxo: false }, bare).length, 2, 'without the unspent set nothing is asked of it');
    }
    const kept = { ...NOTHING, indexes: { ...indexes, address: true }, balances: true };
    assert.equal(selectProjections(kept, bare).length, BASE.length + 2, 'outputs of this ledger have no stake credential');
  });
});
