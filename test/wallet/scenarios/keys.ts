/** Wallets, accounts and addresses: section 3 of the specification, which numbers no scenarios for them. */
import assert from 'node:assert/strict';
import { toHex } from '../../../src/util/bytes.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, NOW, scriptOf } from '../support/world.ts';

const SCOPE = { purpose: 84, coinType: 0 } as const;
const ACCOUNT = { scope: SCOPE, externalKind: 'p2wpkh', internalKind: 'p2wpkh', isDerived: true, now: NOW } as const;
const SECRETS = {
  masterParams: Uint8Array.of(1),
  cryptoPrivateKey: Uint8Array.of(2),
  cryptoScriptKey: null,
  masterPrivateKey: Uint8Array.of(3),
};

export const keyScenarios: readonly Scenario[] = [
  [
    'a wallet has a name of its own, and secrets only if it can spend',
    async (world) => {
      const { store } = world;
      await world.refused('WALLET_EXISTS', () => store.createWallet({ name: 'wallet 1', isWatchOnly: true }));
      await world.refused('INVALID_PARAM', () => store.createWallet({ name: '', isWatchOnly: true }));
      await world.refused('WATCH_ONLY', () => store.createWallet({ name: 'x', isWatchOnly: true, secrets: SECRETS }));
      await world.refused('MASTER_KEY_NEEDED', () => store.createWallet({ name: 'x', isWatchOnly: false }));
      const wallet = await store.createWallet({
        name: 'a purse',
        isWatchOnly: false,
        secrets: SECRETS,
        birthday: 5,
        masterPublicKey: Uint8Array.of(4),
      });
      assert.deepEqual(await store.getWallet('a purse'), wallet);
      assert.deepEqual([wallet.birthday, wallet.syncedTo, wallet.isImported, wallet.masterPublicKey], [5, null, false, Uint8Array.of(4)]);
      assert.deepEqual(await store.getSecrets(wallet.id), SECRETS);
      await store.setSecrets(wallet.id, { ...SECRETS, masterParams: Uint8Array.of(9) });
      assert.deepEqual((await store.getSecrets(wallet.id))?.masterParams, Uint8Array.of(9));
      assert.equal(await store.getSecrets(world.wallet), null);
      await world.refused('WATCH_ONLY', () => store.setSecrets(world.wallet, SECRETS));
      assert.deepEqual(
        (await store.listWallets()).map(({ name }) => name),
        ['a purse', 'wallet 1'],
      );
      assert.deepEqual(
        (await store.listWallets({ after: 'a purse', limit: 1 })).map(({ name }) => name),
        ['wallet 1'],
      );
      await assert.rejects(store.getWallet('x'), { code: 'WALLET_UNKNOWN' });
      await assert.rejects(store.balance(999, { now: NOW }), { code: 'WALLET_UNKNOWN' });
      await world.refused('WALLET_UNKNOWN', () => store.updateWallet(999, { birthday: 1 }));
    },
  ],
  [
    'a wallet is synced to a block, and a block row is never another',
    async (world) => {
      const { store } = world;
      const info = await store.updateWallet(world.wallet, { syncedTo: blockAt(5), birthdayBlock: blockAt(2), birthday: 7 });
      assert.deepEqual([info.syncedTo, info.birthdayBlock, info.birthday], [blockAt(5), blockAt(2), 7]);
      assert.deepEqual(await store.listSyncedBlocks(2, 5), [blockAt(2), blockAt(5)]);
      assert.deepEqual(await store.listSyncedBlocks(3, 4), []);
      await world.changesNothing(() => store.updateWallet(world.wallet, { syncedTo: blockAt(5) }));
      await world.refused('BLOCK_MISMATCH', () => store.updateWallet(world.wallet, { syncedTo: blockAt(5, 1) }));
      await world.refused('BLOCK_MISMATCH', () => store.updateWallet(world.wallet, { syncedTo: { ...blockAt(6), hash: blockAt(5).hash } }));
      await world.refused('INVALID_PARAM', () => store.updateWallet(world.wallet, { syncedTo: { ...blockAt(6), height: -1 } }));
      await world.refused('INVALID_PARAM', () =>
        store.updateWallet(world.wallet, { syncedTo: { ...blockAt(6), hash: new Uint8Array(31) } }),
      );
      await world.refused('INVALID_PARAM', () => store.rollbackToBlock(-1));
    },
  ],
  [
    'accounts are numbered in their scope; imported ones have no number',
    async (world) => {
      const { store, wallet } = world;
      const savings = await store.createAccount(wallet, { ...ACCOUNT, name: 'savings' });
      const imported = await store.createAccount(wallet, {
        ...ACCOUNT,
        name: 'partner',
        isDerived: false,
        publicKey: Uint8Array.of(1),
        masterFingerprint: 7,
      });
      assert.deepEqual([savings.number, imported.number, imported.masterFingerprint], [1, null, 7]);
      assert.deepEqual(
        (await store.listAccounts(wallet)).map(({ name }) => name),
        ['main', 'savings', 'partner'],
      );
      assert.deepEqual(await store.getAccount(wallet, { scope: SCOPE, number: 1 }), savings);
      assert.deepEqual(await store.getAccount(wallet, { scope: SCOPE, name: 'partner' }), imported);
      await assert.rejects(store.getAccount(wallet, { scope: { ...SCOPE, purpose: 86 }, number: 1 }), { code: 'ACCOUNT_UNKNOWN' });
      await world.refused('ACCOUNT_EXISTS', () => store.createAccount(wallet, { ...ACCOUNT, name: 'savings' }));
      await world.refused('ACCOUNT_NAME_RESERVED', () => store.createAccount(wallet, { ...ACCOUNT, name: 'imported' }));
      await world.refused('INVALID_PARAM', () => store.createAccount(wallet, { ...ACCOUNT, name: '' }));
      await world.refused('INVALID_PARAM', () => store.createAccount(wallet, { ...ACCOUNT, name: 'x', internalKind: 'p2tr' }));
      const renamed = await store.renameAccount(wallet, { scope: SCOPE, number: 1 }, 'reserve');
      assert.deepEqual(renamed, { ...savings, name: 'reserve' });
      await world.refused('ACCOUNT_EXISTS', () => store.renameAccount(wallet, { scope: SCOPE, number: 1 }, 'main'));
      await world.refused('ACCOUNT_NAME_RESERVED', () => store.renameAccount(wallet, { scope: SCOPE, number: 1 }, 'imported'));
      await world.refused('ACCOUNT_UNKNOWN', () => store.renameAccount(wallet, { scope: SCOPE, number: 9 }, 'x'));
      await world.changesNothing(() => store.renameAccount(wallet, { scope: SCOPE, number: 1 }, 'reserve'));
    },
  ],
  [
    'what an address was given out for is known, where somebody said it',
    async (world) => {
      const { store, wallet } = world;
      const [{ id }] = await store.listAccounts(wallet);
      const derive = (branch: number, index: number) => ({ script: scriptOf(80 + branch, index), kind: 'p2wpkh' }) as const;
      const [a, b, c] = [
        await store.newAddress(wallet, id, 1, derive, NOW, true),
        await store.newAddress(wallet, id, 1, derive, NOW, false),
        await store.newAddress(wallet, id, 1, derive, NOW),
      ].map(({ script }) => script);
      assert.deepEqual(
        await store.givenForChange(wallet, [a, b, c, scriptOf(0, 0)]),
        new Map([
          [toHex(a), true],
          [toHex(b), false],
        ]),
      );
      const other = await world.addWallet();
      assert.deepEqual(await store.givenForChange(other, [a, b]), new Map());
    },
  ],
  [
    'a wallet is made with its accounts, or not at all',
    async (world) => {
      const { store } = world;
      const account = { scope: SCOPE, externalKind: 'p2wpkh', internalKind: 'p2wpkh', isDerived: true, now: NOW } as const;
      const make = (...names: readonly string[]) =>
        store.createWallet({ name: 'whole', isWatchOnly: true, accounts: names.map((name) => ({ ...account, name })) });
      await world.refused('ACCOUNT_EXISTS', () => make('first', 'first'));
      await world.refused('ACCOUNT_NAME_RESERVED', () => make('first', 'imported'));
      const { id } = await make('first', 'second');
      assert.deepEqual(
        (await store.listAccounts(id)).map(({ name, number }) => [name, number]),
        [
          ['first', 0],
          ['second', 1],
        ],
      );
      await world.refused('WALLET_EXISTS', () => make('third'));
    },
  ],
  [
    'addresses are found by their scripts, and listed in the order they were made',
    async (world) => {
      const { store, wallet } = world;
      const script = scriptOf(70, 0);
      const added = await store.importAddress(wallet, { script, kind: 'p2wsh', publicKey: Uint8Array.of(2) }, NOW);
      assert.deepEqual(added, { script, kind: 'p2wsh', publicKey: Uint8Array.of(2), derivation: null, isUsed: false, createdAt: NOW });
      await world.changesNothing(() => store.importAddress(wallet, { script, kind: 'p2wsh' }, NOW + 1));
      await world.changesNothing(() => store.importAddress(wallet, { script: scriptOf(1, 0), kind: 'p2wpkh' }, NOW));
      await world.refused('SCRIPT_MISSING', () => store.importAddress(wallet, { script: new Uint8Array(), kind: 'p2tr' }, NOW));
      assert.deepEqual(await store.getAddress(wallet, script), added);
      await assert.rejects(store.getAddress(wallet, scriptOf(0, 0)), { code: 'ADDRESS_UNKNOWN' });
      const owned = await store.resolveOwned(wallet, [scriptOf(0, 0), script, scriptOf(1, 3)]);
      assert.deepEqual([...owned.keys()].toSorted(), [toHex(scriptOf(1, 3)), toHex(script)].toSorted());
      const scripts = (await store.listAddresses(wallet)).map((address) => toHex(address.script));
      assert.deepEqual([scripts.length, scripts[10]], [11, toHex(script)]);
      const page = await store.listAddresses(wallet, { after: scriptOf(1, 8), limit: 5 });
      assert.deepEqual(
        page.map((address) => toHex(address.script)),
        scripts.slice(9),
      );
      await assert.rejects(store.listAddresses(wallet, { after: scriptOf(0, 0), limit: 5 }), { code: 'ADDRESS_UNKNOWN' });
      assert.equal((await store.listAddresses(wallet, { limit: 3 })).length, 3);
    },
  ],
];
