/**
 * A file operation of ours that fails while a whole store is opened, changed in
 * its shape or closed: said in our words, and the store opens afterwards and is
 * what it was. The engine alone is in test/engine/rocks/faults.test.ts.
 */
import { equal, ok } from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { temporaryFolder } from '../support/crash-store.ts';
import { DevnetStore } from '../support/devnet-store.ts';
import { withFailing } from '../support/fault-rig.ts';
import { copyOfOpen } from '../support/open-copy.ts';

const KEPT = ['utxo.index.policy=false'];
/** RocksDB takes the memory of its cache when it opens, which costs more than all that is opened here. */
const SMALL_CACHE = 'engine.cacheBytes=1MB';
/** One index comes and one goes. */
const OTHERWISE = ['utxo.index.policy=true', 'utxo.index.stakeCredential=false'];

interface FaultCase {
  readonly name: string;
  readonly directory: string;
  readonly digest: string;
  /** Settings it is opened with. */
  readonly set: readonly string[];
  /** Every which operation fails. */
  readonly stride: number;
}

/** The settings are read before: a file of them that cannot be is nothing of the store. */
function opening(set: readonly string[]): (data: string) => Promise<OpenStore> {
  const { config } = loadConfig({ flags: { set: [...set, SMALL_CACHE] }, env: {} });
  return (data) => openStore({ data, config, reshape: set.length > 0 });
}

describe('a file operation that fails while a whole store is opened or closed', () => {
  let folder: string;
  const cases: FaultCase[] = [];
  before(async () => {
    folder = temporaryFolder();
    for (const kind of ['rocks', 'sqlite']) {
      const devnet = new DevnetStore(join(folder, 'working'), 5, [...KEPT, SMALL_CACHE, `engine.kind=${kind}`]);
      devnet.mine(8);
      const store = await devnet.open();
      const { digest } = store.digest();
      const unclosed = join(folder, `${kind} unclosed`);
      await copyOfOpen(devnet.data, unclosed);
      // As a backup that was killed leaves it.
      mkdirSync(join(unclosed, 'backup.pinned'));
      writeFileSync(join(unclosed, 'backup.pinned', 'CURRENT'), '');
      await store.close();
      const closed = join(folder, `${kind} closed`);
      cpSync(devnet.data, closed, { recursive: true });
      rmSync(devnet.data, { recursive: true });
      cases.push({ name: `${kind}, closed`, directory: closed, digest, set: [], stride: 1 });
      cases.push({ name: `${kind}, not closed`, directory: unclosed, digest, set: [], stride: 1 });
      cases.push({ name: `${kind}, with another shape`, directory: closed, digest, set: OTHERWISE, stride: 4 });
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  /** What failed; null: there were fewer operations. */
  async function failNth(nth: number, code: 'EIO' | 'ENOSPC', { name, directory, digest, set }: FaultCase): Promise<string | null> {
    const copy = join(folder, 'copy');
    cpSync(directory, copy, { recursive: true });
    const open = opening(set);
    let thrown: unknown = null;
    const failed = await withFailing(nth, code, async () => {
      try {
        await (await open(copy)).close();
      } catch (error) {
        thrown = error;
      }
    });
    const what = `${name}, call ${nth} (${failed}) with ${code}`;
    if (thrown !== null) ok(isUnspentError(thrown, code === 'EIO' ? 'IO' : 'DISK_FULL'), `${what}: ${(thrown as Error).stack}`);
    try {
      const store = await opening([])(copy);
      equal(store.digest().digest, digest, what);
      await store.fill();
      equal(store.verify(() => {}).faults.length, 0, what);
      await store.close();
    } catch (error) {
      throw new Error(`${what}: is not what it was`, { cause: error });
    }
    rmSync(copy, { recursive: true });
    return failed;
  }

  for (const code of ['EIO', 'ENOSPC'] as const) {
    it(`leaves it what it was: each of ours, ${code}`, async (t) => {
      for (const each of cases) {
        let failures = 0;
        for (let nth = 1; (await failNth(nth, code, each)) !== null; nth += each.stride) failures++;
        t.diagnostic(`${each.name}: ${failures}`);
        ok(failures >= (code === 'EIO' ? 25 : 9), `${each.name}: ${failures} operations failed`);
      }
    });
  }
});
