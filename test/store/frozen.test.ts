/**
 * What earlier versions wrote, read by this one: every store, backup and snapshot
 * in `frozen/` opens, or is upgraded first where its format is older, agrees with
 * itself, has the digests that its own version printed, goes on with the blocks
 * that came next, and goes back.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { readAnyIdentity, SCHEMA_VERSION } from '../../src/engine/directory.ts';
import { restoreBackup } from '../../src/store/backup/restore.ts';
import { importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { upgradeStore } from '../../src/store/upgrade/upgrade.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { document, temporary, withStore } from '../cli/run.ts';
import { type Frozen, frozenNames, readFrozen, thaw } from '../support/frozen.ts';

const { config } = loadConfig({ env: {} });

/** A store of it in `data`, of the present format; false: a version of its own format has to make one. */
async function made({ kind, schema, createdBy, ...frozen }: Frozen, folder: string, data: string): Promise<boolean> {
  thaw({ kind, schema, createdBy, ...frozen }, kind === 'store' ? data : folder);
  const isOlder = schema < SCHEMA_VERSION;
  if (kind === 'snapshot') await importSnapshot(folder, { data, config });
  else if (kind === 'backup' && isOlder) {
    await assert.rejects(restoreBackup(folder, { data, config }), (error: Error) => {
      assert.ok(isUnspentError(error, 'STORE_SCHEMA'), `${error}`);
      assert.ok(error.message.endsWith(`restore it with unspent ${createdBy}, then run \`unspent upgrade\` with this one`), error.message);
      return true;
    });
    return false;
  } else if (kind === 'backup') await restoreBackup(folder, { data, config });
  else if (isOlder) {
    await assert.rejects(openStore({ data, config, create: false }), (error) => isUnspentError(error, 'STORE_SCHEMA'));
    const { from, to, steps } = await upgradeStore({ data, config });
    assert.deepEqual([from, to, steps.length], [schema, SCHEMA_VERSION, SCHEMA_VERSION - schema]);
  }
  assert.equal(readAnyIdentity(data)?.schema, SCHEMA_VERSION);
  return true;
}

function takeNext({ fold, network }: OpenStore, next: Frozen['next']): void {
  for (const raw of next) fold.apply([network.ledger.decode(raw, fold.head!.height + 1)]);
}

function assertAt(store: OpenStore, { height, digest }: Frozen['marks']['head']): void {
  assert.equal(store.fold.head?.height, height);
  assert.equal(store.digest().digest, digest, `the digest at ${height}`);
  assert.deepEqual(store.verify().faults, []);
}

describe('a frozen', () => {
  for (const name of frozenNames()) {
    test(name, async () => {
      const [folder, data] = [join(temporary(), 'frozen'), join(temporary(), 'data')];
      const frozen = readFrozen(name);
      const { marks, next, wallets, network, kind } = frozen;
      if (!(await made(frozen, folder, data))) return;
      const hasWallets = wallets.length > 0 && kind !== 'snapshot';
      if (hasWallets) {
        for (const { name: wallet, total } of wallets)
          assert.equal((await document<{ total: string }>(['wallet', 'balance', wallet, '--data', data])).total, total);
      }
      await withStore(data, (store) => {
        assert.equal(store.network.name, network);
        assertAt(store, marks.head);
        takeNext(store, next);
        assertAt(store, marks.last);
      });
      if (hasWallets) await document(['wallet', 'sync', '--data', data]);
      if (kind === 'snapshot') return;
      await withStore(data, (store) => {
        store.rollback(store.locate(`height:${marks.early.height}`));
        assertAt(store, marks.early);
      });
      if (hasWallets) await document(['wallet', 'sync', '--data', data]);
    });
  }

  test('store there is of every format before the present one', () => {
    const schemas = new Set(frozenNames().map((name) => readFrozen(name).schema));
    for (let schema = 1; schema < SCHEMA_VERSION; schema++) assert.ok(schemas.has(schema), `one of schema ${schema}: npm run freeze`);
  });
});
