/** What `start` keeps of a chain of its own: all that the ledger supports and nobody has decided about. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withEverything } from '../../src/cli/everything.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SETTING_KEYS, settingValue } from '../../src/config/schema.ts';
import { openNetwork } from '../../src/families/networks.ts';
import { SWITCHES } from '../../src/projections/registry.ts';

/** Keys whose value is another with everything on, in the order of the settings. */
function changed(network: string, ...set: readonly string[]): readonly string[] {
  const { config } = loadConfig({ flags: { set, data: join(tmpdir(), 'unspent-no-such-store') } });
  const everything = withEverything(config, openNetwork(network, null).ledger);
  return SETTING_KEYS.filter((key) => settingValue(config, key) !== settingValue(everything, key));
}

const TRAITS = [
  'utxo.index.policy',
  'utxo.index.asset',
  'utxo.index.datumHash',
  'utxo.index.referenceScript',
  'utxo.datums',
  'utxo.scripts',
];
const BOTH = ['utxo.balances', 'utxo.history', 'proofs.setHash', 'proofs.csmt'];

describe('everything on', () => {
  it('of a Cardano devnet', () => {
    const on = changed('devnet');
    for (const key of [...TRAITS, ...BOTH]) assert.ok(on.includes(key), key);
    assert.ok(!on.includes('utxo.store'));
  });

  it('of a Bitcoin regtest', () => {
    const on = changed('bitcoin-regtest');
    for (const key of BOTH) assert.ok(on.includes(key), key);
    for (const key of [...TRAITS, 'utxo.store']) assert.ok(!on.includes(key), key);
  });

  it('leaves alone what somebody has set', () => {
    const on = changed('bitcoin-regtest', 'utxo.history=false', 'utxo.balances=true', 'utxo.index.addressHash=false', 'proofs.csmt=false');
    for (const key of ['utxo.history', 'utxo.balances', 'utxo.index.addressHash', 'proofs.csmt']) assert.ok(!on.includes(key), key);
    assert.ok(on.includes('proofs.setHash'));
  });

  it('switches, and changes nothing else', () => {
    const switches = SWITCHES.map(({ setting }) => setting.key);
    for (const key of changed('devnet')) assert.ok(switches.includes(key), key);
  });
});
