/** What `start` keeps of a chain of its own: all that the ledger supports and nobody has decided about. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withEverything } from '../../src/cli/everything.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SETTING_KEYS, settingValue } from '../../src/config/schema.ts';
import { openNetwork } from '../../src/families/networks.ts';

/** Keys whose value is another with everything on, in the order of the settings. */
function changed(network: string, ...set: readonly string[]): readonly string[] {
  const { config } = loadConfig({ flags: { set, data: join(tmpdir(), 'unspent-no-such-store') } });
  const everything = withEverything(config, openNetwork(network, null).ledger);
  return SETTING_KEYS.filter((key) => settingValue(config, key) !== settingValue(everything, key));
}

describe('everything on', () => {
  it('of a Cardano devnet', () => {
    assert.deepEqual(changed('devnet'), [
      'utxo.index.policy',
      'utxo.index.asset',
      'utxo.index.datumHash',
      'utxo.index.referenceScript',
      'utxo.balances',
      'utxo.datums',
      'utxo.scripts',
      'proofs.setHash',
      'proofs.csmt',
    ]);
  });

  it('of a Bitcoin regtest', () => {
    assert.deepEqual(changed('bitcoin-regtest'), ['utxo.balances', 'utxo.history', 'proofs.setHash', 'proofs.csmt']);
  });

  it('leaves alone what somebody has set', () => {
    const set = ['utxo.history=false', 'utxo.balances=true', 'utxo.index.addressHash=false', 'proofs.csmt=false'];
    assert.deepEqual(changed('bitcoin-regtest', ...set), ['proofs.setHash']);
  });
});
