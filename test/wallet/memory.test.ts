/** The wallet store in memory tells the stories of wallets, and keeps their invariants. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHILD_INDEX_MAX } from '../../src/util/limits.ts';
import { addAccount, addWallet } from '../../src/wallet/memory/accounts.ts';
import { MemoryTables } from '../../src/wallet/memory/tables.ts';
import { runRandomWallets } from './random.ts';
import { runWalletScenarios } from './scenarios.ts';
import { openMemoryWallets } from './support/open-memory.ts';
import { runRandomLives } from './support/random-run.ts';

runWalletScenarios('in memory', openMemoryWallets);

describe('wallets: in memory', () => {
  it('a scope whose numbers are used up has none for another account', () => {
    const tables = new MemoryTables();
    const wallet = tables.wallet(addWallet(tables, { name: 'x', isWatchOnly: true }).id);
    const scope = { purpose: 84, coinType: 0 };
    const account = { scope, externalKind: 'p2wpkh', internalKind: 'p2wpkh', now: 0 } as const;
    addAccount(tables, wallet, { ...account, name: 'first', isDerived: true });
    wallet.scopes.set('84/0', { ...wallet.scopes.get('84/0')!, nextAccountNumber: CHILD_INDEX_MAX });
    assert.equal(addAccount(tables, wallet, { ...account, name: 'last', isDerived: true }).number, CHILD_INDEX_MAX);
    assert.throws(() => addAccount(tables, wallet, { ...account, name: 'too late', isDerived: true }), { code: 'ACCOUNT_NUMBER_MAX' });
    assert.equal(addAccount(tables, wallet, { ...account, name: 'imported one', isDerived: false }).number, null);
  });
});

/** The two databases live many more of these lives beside it. */
runRandomWallets('in memory', (lives) => runRandomLives({ ...lives, open: null }), { events: 10_000, length: 80, compareEvery: 1 });
