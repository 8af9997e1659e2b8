/** A database that is lost as a whole: a store that has had blocks says so, and makes no new one in its place. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Identity, readIdentity, writeIdentity } from '../../src/engine/directory.ts';
import { openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { DevnetStore } from '../support/devnet-store.ts';

describe('a store whose database is gone', () => {
  const root = mkdtempSync(join(tmpdir(), 'unspent-begun-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  const isDamage = (error: unknown): boolean => isUnspentError(error, 'STORE_DAMAGED') && /its database is gone/.test(error.message);

  for (const kind of ['rocks', 'sqlite']) {
    for (const kept of ['nothing', 'its lock'] as const) {
      test(`is damaged, and stays as it is (${kind}, ${kept} left)`, async () => {
        const devnet = new DevnetStore(join(root, `${kind} ${kept}`), 3, [`engine.kind=${kind}`]);
        devnet.mine(5);
        await (await devnet.open()).close();
        const database = join(devnet.data, 'db');
        for (const name of readdirSync(database))
          if (kept === 'nothing' || !/^(LOCK|IDENTITY)$/.test(name)) rmSync(join(database, name), { recursive: true });
        if (kept === 'nothing') rmSync(database, { recursive: true });
        await assert.rejects(devnet.open(), isDamage);
        await assert.rejects(openStore({ data: devnet.data, create: false }), isDamage);
        assert.equal(existsSync(database), kept !== 'nothing');
      });
    }
  }

  test('is made anew where it has had no block; one that has them from before the mark is given it when it is opened', async () => {
    const devnet = new DevnetStore(join(root, 'empty'), 3);
    const database = join(devnet.data, 'db');
    const identity = (): { readonly begun?: boolean } => JSON.parse(readFileSync(join(devnet.data, 'unspent.json'), 'utf8'));
    const { chain } = devnet;
    await (
      await openStore({ data: devnet.data, network: 'devnet', genesis: { byron: chain.genesisByron, shelley: chain.genesisShelley } })
    ).close();
    assert.equal(identity().begun, undefined);
    rmSync(database, { recursive: true });
    devnet.mine(1);
    await (await devnet.open()).close();
    assert.equal(identity().begun, true, 'with its first block');
    const { begun: _, ...before } = readIdentity(devnet.data)!;
    writeIdentity(devnet.data, before as Identity);
    assert.equal(identity().begun, undefined);
    await (await openStore({ data: devnet.data, create: false })).close();
    assert.equal(identity().begun, true, 'when it is opened');
  });
});
