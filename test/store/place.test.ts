/** A directory that is moved or deleted under an open store is noticed, whatever was written into it meanwhile is whole. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { DevnetStore } from '../support/devnet-store.ts';

describe('the directory of an open store', () => {
  const root = mkdtempSync(join(tmpdir(), 'unspent-place-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const kind of ['rocks', 'sqlite']) {
    test(`is moved: said so, and the store goes on from there (${kind})`, async () => {
      const data = join(root, kind);
      const devnet = new DevnetStore(data, 3, [`engine.kind=${kind}`]);
      devnet.mine(12);
      const store = await devnet.open();
      const { digest } = store.digest();
      const stopped = new AbortController();
      const kept = store.keepPruned(stopped.signal);
      renameSync(data, `${data}.moved`);
      // Another store where it was is not this one.
      mkdirSync(join(data, 'db'), { recursive: true });
      await assert.rejects(kept, (error) => isUnspentError(error, 'STORE_GONE') && /moved or deleted/.test(error.message));
      stopped.abort();
      assert.ok(store.engine.stats().bytes >= 0, 'what it says of itself can still be asked');
      await store.close();
      const again = await openStore({ data: `${data}.moved`, create: false });
      assert.equal(again.digest().digest, digest);
      await again.close();
    });
  }
});
