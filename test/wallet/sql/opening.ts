/** Opening a wallet database: migrations, schemas of the future, addresses that are none, packages that are missing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUnspentError } from '../../../src/util/errors.ts';
import { missingPackage } from '../../../src/util/missing-package.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { WALLET_SCHEMA } from '../../../src/wallet/sql/schema.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';

export function runOpening(databases: TestDatabases): void {
  describe(`wallets: opening ${databases.name}`, () => {
    it('makes the schema once, also if several open it at once, and finds it again', async () => {
      const url = await databases.unusedUrl();
      const stores = await Promise.all([1, 2, 3].map(() => openWalletStore(url)));
      await stores[0].createWallet({ name: 'w', isWatchOnly: true });
      assert.equal((await stores[2].getWallet('w')).name, 'w');
      await Promise.all(stores.map((store) => store.close()));
      const again = await openWalletStore(url);
      assert.equal((await again.listWallets()).length, 1);
      await again.close();
      assert.deepEqual(
        (await executeIn(url, 'SELECT version, name FROM wallet_schema ORDER BY version')).map((row) => ({ ...row })),
        WALLET_SCHEMA.migrations.map(({ name }, at) => ({ version: at + 1, name })),
      );
    });

    it('goes on where a migration was interrupted', async () => {
      const url = await databases.unusedUrl();
      let left = 25;
      const beforeStatement = (): void => {
        if (left-- === 0) throw Object.assign(new Error('interrupted'), databases.name === 'SQLite' ? { errcode: 1 } : { code: '42601' });
      };
      await assert.rejects(openWalletStore(url, { beforeStatement }), (error) => isUnspentError(error, 'DATABASE'));
      const store = await openWalletStore(url);
      await store.createWallet({ name: 'w', isWatchOnly: true });
      await store.close();
    });

    it('brings a database of the version before to this one, with what it has', async () => {
      const url = await databases.freshUrl();
      await executeIn(url, 'DROP TABLE given_addresses; DROP TABLE wallet_labels; DELETE FROM wallet_schema WHERE version >= 3');
      const older = await executeIn(url, 'SELECT version FROM wallet_schema');
      assert.equal(older.length, 2);
      const store = await openWalletStore(url);
      const { id } = await store.createWallet({ name: 'w', isWatchOnly: true });
      assert.deepEqual(await store.givenForChange(id, [Uint8Array.of(1)]), new Map());
      assert.deepEqual(await store.listLabels(id), []);
      await store.close();
    });

    it('refuses a schema of the future, and changes nothing', async () => {
      const url = await databases.freshUrl();
      await executeIn(url, "INSERT INTO wallet_schema (version, name) VALUES (99, 'later')");
      await assert.rejects(openWalletStore(url), (error) => {
        assert.ok(isUnspentError(error, 'STORE_SCHEMA'));
        assert.equal(error.meta['version'], 99);
        return true;
      });
    });

    it('refuses a schema whose versions have other names, and changes nothing', async () => {
      const url = await databases.freshUrl();
      await executeIn(url, "UPDATE wallet_schema SET name = 'wallets' WHERE version = 1");
      await assert.rejects(openWalletStore(url), (error) => {
        assert.ok(isUnspentError(error, 'STORE_SCHEMA'));
        assert.deepEqual(error.meta, { version: 1, name: 'wallets' });
        return true;
      });
    });

    it('is closed: every call says so', async () => {
      const store = await openWalletStore(await databases.freshUrl());
      await store.close();
      await store.close();
      await assert.rejects(store.listWallets(), (error) => isUnspentError(error, 'CLOSED'));
    });
  });
}

export function runWrongAddresses(): void {
  describe('wallets: opening', () => {
    it('an address that is no wallet database is told without its password', async () => {
      await assert.rejects(openWalletStore('mysql://user:secret@host/db'), (error) => {
        assert.ok(isUnspentError(error, 'USAGE'));
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    });

    it('a package that is missing is asked for', () => {
      const cause = Object.assign(new Error("Cannot find package 'pg' imported from x"), { code: 'ERR_MODULE_NOT_FOUND' });
      assert.match(missingPackage(cause, 'wallets', ['kysely', 'pg'])?.message ?? '', /npm install pg$/);
      assert.equal(missingPackage(new Error('other'), 'wallets', ['kysely', 'pg']), undefined);
    });
  });
}
