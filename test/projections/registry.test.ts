/**
 * The table of projections: what each setting asks for, nothing of outputs
 * without the unspent set, a clear word where a ledger has nothing to keep, and
 * what a table must not have twice.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { isSettingKey, settingOf } from '../../src/config/schema.ts';
import { openNetwork } from '../../src/families/networks.ts';
import type { Ledger } from '../../src/ledgers/ledger.ts';
import { type BuiltInEntry, supports } from '../../src/projections/entry.ts';
import { INDEX_KINDS } from '../../src/projections/index/by-key.ts';
import {
  everyProjection,
  PROJECTIONS,
  type ProjectionTable,
  projectionTable,
  SWITCHES,
  selectProjections,
} from '../../src/projections/registry.ts';
import { planShape } from '../../src/store/shape.ts';
import { switchValue } from '../../src/util/setting.ts';
import { ledger } from '../support/coins.ts';
import { assertCode, KEEP_ALL } from '../support/harness.ts';
import { BLOCKS_ONLY, keep } from '../support/keep.ts';

const BASE = keep();
const bitcoin = openNetwork('bitcoin', null).ledger;
const OFF = ['addressHash', 'paymentCredential', 'stakeCredential'].map((name) => `utxo.index.${name}=false`);

/** Names of what a new store of this ledger keeps with these settings. */
function namesWith(of: Ledger, ...set: readonly string[]): readonly string[] {
  return planShape(null, loadConfig({ flags: { set } }).config, of, PROJECTIONS).after.projections;
}

/** What each setting keeps beside the unspent set. */
const KEPT_BY: Readonly<Record<string, readonly string[]>> = {
  'utxo.enabled=true': [],
  'utxo.index.addressHash=true': ['index.address'],
  'utxo.index.paymentCredential=true': ['index.payment'],
  'utxo.index.stakeCredential=true': ['index.stake'],
  'utxo.index.policy=true': ['index.policy'],
  'utxo.index.asset=true': ['index.asset'],
  'utxo.index.datumHash=true': ['index.datum'],
  'utxo.index.referenceScript=true': ['index.script'],
  'utxo.balances=true': ['balance.address', 'balance.stake'],
  'utxo.datums=true': ['datums'],
  'utxo.scripts=true': ['scripts'],
  'utxo.history=true': ['history'],
  'proofs.setHash=true': ['setHash'],
  'proofs.csmt=true': ['csmt'],
  'utxo.store=mmr': ['mmr'],
  'cage.enabled=true': ['cage'],
};

describe('the table of projections', () => {
  it('gives each switch what it stands for, and no other', () => {
    assert.deepEqual(namesWith(ledger, ...OFF), BASE);
    for (const [set, names] of Object.entries(KEPT_BY)) {
      assert.deepEqual(namesWith(ledger, ...OFF, set), [...BASE, ...names], set);
      assert.deepEqual(namesWith(ledger, ...OFF, set, 'utxo.enabled=false'), BLOCKS_ONLY, set);
    }
    assert.deepEqual(namesWith(bitcoin, ...OFF, 'utxo.history=true', 'proofs.setHash=true'), [...BASE, 'history', 'setHash']);
    for (const { setting, entries } of SWITCHES) {
      const of = entries.some((entry) => supports(entry, ledger)) ? ledger : bitcoin;
      const names = namesWith(of, ...OFF, `${setting.key}=${switchValue(setting, true)}`);
      const isKept = (entry: BuiltInEntry): boolean => supports(entry, of) && entry.onlyBeside === undefined;
      for (const entry of entries) assert.equal(names.includes(entry.name), isKept(entry), entry.name);
    }
  });

  it('keeps what happened to credentials where outputs are found by them', () => {
    const of = (...set: readonly string[]): readonly string[] =>
      namesWith(ledger, 'utxo.history=true', ...set).filter((name) => name.startsWith('history'));
    assert.deepEqual(of(), ['history', 'history.payment', 'history.stake']);
    assert.deepEqual(of('utxo.index.stakeCredential=false'), ['history', 'history.payment']);
    assert.deepEqual(of('utxo.indexingStrategy=address_hash'), ['history']);
    assert.deepEqual(namesWith(bitcoin, 'utxo.history=true'), [...BASE, 'index.address', 'history']);
  });

  it('keeps the indexes by default, as far as the strategy lets them', () => {
    const byStrategy: Readonly<Record<string, readonly string[]>> = {
      both: ['index.address', 'index.payment', 'index.stake'],
      address_hash: ['index.address'],
      payment_credential: ['index.payment', 'index.stake'],
    };
    assert.deepEqual(namesWith(ledger), [...BASE, ...byStrategy['both']]);
    assert.deepEqual(namesWith(ledger, 'utxo.index.stakeCredential=false'), [...BASE, 'index.address', 'index.payment']);
    for (const [strategy, names] of Object.entries(byStrategy)) {
      const set = `utxo.indexingStrategy=${strategy}`;
      assert.deepEqual(namesWith(ledger, set), [...BASE, ...names]);
      // What has nothing to do with addresses is on under any strategy, where it is asked for.
      for (const name of ['policy', 'asset', 'datumHash', 'referenceScript'])
        assert.deepEqual(namesWith(ledger, set, `utxo.index.${name}=true`), [...BASE, ...names, ...KEPT_BY[`utxo.index.${name}=true`]]);
    }
  });

  it('names settings that there are, with values that they take', () => {
    const table: ProjectionTable = PROJECTIONS;
    for (const { name, setting, onlyWith } of table) {
      if (setting?.type === 'oneOf') {
        for (const value of [setting.on, setting.off, setting.default]) assert.ok(setting.values.includes(value), name);
      }
      if (onlyWith === undefined) continue;
      assert.ok(isSettingKey(onlyWith.key), name);
      const limiting = settingOf(onlyWith.key);
      assert.ok(limiting.type === 'oneOf' && onlyWith.values.every((value) => limiting.values.includes(String(value))), name);
    }
  });

  it('has no name and no column twice', () => {
    const names = PROJECTIONS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const columns = selectProjections(KEEP_ALL, ledger).flatMap((projection) => projection.columns.map(({ name }) => name));
    assert.equal(new Set(columns).size, columns.length);
    assert.ok(columns.length >= 3 + 2 + INDEX_KINDS.length + 2 + 2 + 1);
  });

  it('says which can be switched on later', () => {
    const fillable = Object.fromEntries(
      [...everyProjection(ledger), ...everyProjection(bitcoin)].map((projection) => [projection.name, projection.fillable]),
    );
    for (const name of [...BASE, 'history', 'mmr', 'cage']) assert.equal(fillable[name], undefined, name);
    for (const name of [...INDEX_KINDS.map((kind) => `index.${kind}`), 'balance.address', 'balance.stake', 'csmt', 'setHash'])
      assert.equal(fillable[name], 'exact', name);
    for (const name of ['datums', 'scripts']) assert.equal(fillable[name], 'outputs', name);
    const onward = (of: Ledger): string[] => everyProjection(of).flatMap(({ name, startsLate }) => (startsLate === true ? [name] : []));
    assert.deepEqual(onward(ledger), ['history', 'history.payment', 'history.stake']);
    assert.deepEqual(onward(bitcoin), []);
  });

  it('says what to do where one is switched on that cannot be made any more', () => {
    const have = planShape(null, loadConfig({ flags: { set: [] } }).config, ledger, PROJECTIONS).after;
    const late = loadConfig({ flags: { set: ['cage.enabled=true'] } }).config;
    assert.throws(() => planShape(have, late, ledger, PROJECTIONS), {
      code: 'STORE_SHAPE',
      message: /^cage cannot be switched on for a store that has begun without: .* Sync a new store with it on/,
    });
  });

  it('takes the further settings of a projection', () => {
    const wrong = loadConfig({ flags: { set: ['cage.enabled=true', 'cage.deployments=v7:00'] } }).config;
    assertCode(() => planShape(null, wrong, ledger, PROJECTIONS), 'USAGE');
    const right = loadConfig({ flags: { set: ['cage.enabled=true', `cage.deployments=public,v2:${'ab'.repeat(28)}`] } }).config;
    assert.ok(planShape(null, right, ledger, PROJECTIONS).after.projections.includes('cage'));
  });

  it('refuses what outputs of the ledger do not have, and only that', () => {
    const { txBytes: _, leaf: __, ...rest } = bitcoin;
    const bare: Ledger = { ...rest, keyKinds: ['address'], traits: null };
    const messages: readonly (readonly [set: string, name: string, message: RegExp])[] = [
      ['utxo.index.policy=true', 'index.policy', /the policy index cannot be kept: outputs of the bitcoin family have nothing of the kind/],
      ['utxo.index.asset=true', 'index.asset', /the asset index cannot be kept/],
      ['utxo.index.datumHash=true', 'index.datum', /the datum index cannot be kept/],
      ['utxo.index.referenceScript=true', 'index.script', /the script index cannot be kept/],
      ['utxo.datums=true', 'datums', /datums cannot be kept: outputs of the bitcoin family/],
      ['utxo.scripts=true', 'scripts', /scripts cannot be kept: outputs of the bitcoin family/],
      ['utxo.history=true', 'history', /a history cannot be kept: this version has none for the bitcoin family/],
      ['proofs.csmt=true', 'csmt', /a tree over the set cannot be kept: this version has none/],
      ['utxo.store=mmr', 'mmr', /a mountain range cannot be kept: this version has none/],
      ['cage.enabled=true', 'cage', /cages cannot be kept: this version has none for the bitcoin family/],
    ];
    for (const [set, name, message] of messages) {
      assert.throws(() => namesWith(bare, set), { code: 'UNSUPPORTED', message });
      assertCode(() => selectProjections([name], bare), 'UNSUPPORTED');
      assert.deepEqual(namesWith(bare, set, 'utxo.enabled=false'), BLOCKS_ONLY, 'without the unspent set nothing is asked of it');
    }
    // On by default, or behind a switch that keeps something else.
    assert.deepEqual(namesWith(bare, 'utxo.balances=true'), [...BASE, 'index.address', 'balance.address']);
    assert.deepEqual(
      namesWith(bare, 'utxo.index.stakeCredential=true'),
      [...BASE, 'index.address'],
      'outputs of this ledger have no stake credential',
    );
    const every = everyProjection(bare).map(({ name }) => name);
    for (const name of [...BASE, 'index.address', 'balance.address', 'setHash']) assert.ok(every.includes(name), name);
    for (const name of [...messages.map(([, refused]) => refused), 'index.payment', 'index.stake', 'balance.stake'])
      assert.ok(!every.includes(name), name);
  });

  it('takes further entries, if they are not at odds with ours', () => {
    const own = { name: 'own', from: 'outputs', make: () => ({ ...projection, name: 'own' }) } as const;
    const projection = { columns: [{ name: 'own', access: 'point', weight: 1 }], apply: () => undefined, revert: () => {} } as const;
    const table = projectionTable([own]);
    assert.deepEqual(
      everyProjection(ledger, table).map(({ name }) => name),
      [...everyProjection(ledger).map(({ name }) => name), 'own'],
    );
    assert.throws(() => projectionTable([own, own]), /two projections 'own'/);
    assert.throws(() => projectionTable([{ ...own, name: 'utxo' }]), /two projections 'utxo'/);
    const switched: BuiltInEntry = { ...own, setting: SWITCHES[0].setting };
    assert.throws(() => projectionTable([switched]), /a setting that no configuration knows/);
    assert.throws(() => selectProjections(['other'], ledger, projectionTable([{ ...own, name: 'other' }])), /makes a projection 'own'/);
    const columns = [{ name: 'utxo_spent', access: 'point', weight: 1 }] as const;
    const clashing = projectionTable([{ ...own, make: () => ({ ...projection, name: 'own', columns }) }]);
    assert.throws(() => everyProjection(ledger, clashing), /'own' has a column 'utxo_spent'/);
  });
});
