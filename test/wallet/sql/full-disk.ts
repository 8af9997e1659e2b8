/**
 * W81 in earnest: a disk that is full. The database is on a file system in memory
 * that is too small, which only root can make; then it becomes larger.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isUnspentError } from '../../../src/util/errors.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { World } from '../support/world.ts';

const RAW_BYTES = 100_000;
const SMALL = '16m';
const LARGE = '256m';
/** Servers of the tests that root starts run as nobody, and own the directories of their tablespaces. */
const NOBODY = 65_534;

class SmallDisk implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'unspent-full-'));

  constructor() {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL},mode=0700,uid=${NOBODY},gid=${NOBODY}`, 'none', this.directory], {
      stdio: 'pipe',
    });
  }

  grow(): void {
    execFileSync('mount', ['-o', `remount,size=${LARGE}`, this.directory]);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.directory]);
    rmdirSync(this.directory);
  }
}

function withoutMount(): string | false {
  try {
    using _ = new SmallDisk();
    return false;
  } catch {
    return 'only root can mount a file system';
  }
}

/** `place`: the URL of a database in that directory, with the schema. */
export function runFullDisk(name: string, place: (directory: string) => Promise<string>): void {
  describe(`wallets: ${name} on a full disk`, () => {
    it('W81 is told to be unusable, has lost nothing, and goes on when there is room again', { skip: withoutMount() }, async () => {
      using disk = new SmallDisk();
      const url = await place(disk.directory);
      let store = await openWalletStore(url);
      const world = await World.open(async () => ({ store, rows: () => store.rows(), close: async () => {} }));
      const add = async (each: string): Promise<void> => {
        const news = world.news(each);
        await store.createTx({ ...news, tx: { ...news.tx, raw: randomBytes(RAW_BYTES) } });
      };
      const added: string[] = [];
      await assert.rejects(
        async () => {
          for (let n = 0; n < 1000; n++) {
            await add(`tx ${n}`);
            added.push(`tx ${n} published`);
          }
        },
        (error) => isUnspentError(error, 'DATABASE_FAILED'),
      );
      assert.ok(added.length > 3, `${added.length} transactions found room`);
      assert.equal(store.isHealthy, false);
      await store.close();
      disk.grow();
      store = await openWalletStore(url);
      const again = await World.resume(async () => ({ store, rows: () => store.rows(), close: () => store.close() }), world.wallets);
      assert.deepEqual(await again.states(), added);
      await add('one more');
      assert.equal((await again.states()).length, added.length + 1);
      await store.close();
    });
  });
}
