/**
 * A file operation that fails while a store is opened or closed: the store opens
 * afterwards and is what it was. `npm run campaign` fails every one of RocksDB's;
 * here some of them, and every one of ours.
 */
import { equal, match, ok } from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isUnspentError } from '../../../src/util/errors.ts';
import { temporaryFolder } from '../../support/crash-store.ts';
import { equalsAfterwards, inject, makeFaultStore, openFaultStore, straceSkip, withFailing } from '../../support/fault-rig.ts';

let folder: string;
const stores: { directory: string; content: string }[] = [];
before(async () => {
  folder = temporaryFolder();
  for (const isClosed of [true, false]) {
    const directory = join(folder, isClosed ? 'closed' : 'open');
    stores.push({ directory, content: await makeFaultStore(directory, isClosed) });
  }
});
after(() => rmSync(folder, { recursive: true }));

describe('a file operation that fails while a store is opened or closed', () => {
  for (const code of ['EIO', 'ENOSPC'] as const) {
    it(`leaves it what it was: each of ours, ${code}`, async () => {
      let failures = 0;
      for (const { directory, content } of stores) {
        for (let nth = 1, failed: string | null = ''; failed !== null; nth++) {
          const copy = join(folder, 'copy');
          cpSync(directory, copy, { recursive: true });
          let thrown: unknown = null;
          failed = await withFailing(nth, code, async () => {
            try {
              await (await openFaultStore(copy)).close();
            } catch (error) {
              thrown = error;
            }
          });
          const what = `call ${nth} (${failed}) with ${code}`;
          if (thrown !== null) ok(isUnspentError(thrown, code === 'EIO' ? 'IO' : 'DISK_FULL'), `${what}: ${thrown}`);
          await equalsAfterwards(copy, content, what);
          rmSync(copy, { recursive: true });
          if (failed !== null) failures++;
        }
      }
      ok(failures >= (code === 'EIO' ? 30 : 6), `${failures} operations failed`);
    });
  }

  /** Writes of the manifest and of the new log, the switch to the new manifest, tables, and everything from some write on. */
  const SOME = [
    ['write', 'ENOSPC', 1, true],
    ['write', 'ENOSPC', 3, true],
    ['write', 'ENOSPC', 9, true],
    ['write', 'EIO', 5, false],
    ['rename', 'EIO', 1, false],
    ['rename', 'ENOSPC', 2, false],
    ['openat', 'ENOSPC', 12, true],
    ['fsync', 'EIO', 1, true],
    ['fdatasync', 'EIO', 2, false],
  ] as const;
  it('leaves it what it was: some of RocksDB’s', { skip: straceSkip() }, async () => {
    let hits = 0;
    for (const [at, [call, code, nth, from]] of SOME.entries()) {
      const { directory, content } = stores[at % stores.length];
      const copy = join(folder, 'copy');
      cpSync(directory, copy, { recursive: true });
      const injected = inject(copy, call, code, nth, from);
      const what = `${call} ${nth}${from ? '+' : ''} with ${code}: ${injected.said}`;
      match(injected.said ?? 'died', code === 'ENOSPC' ? /^(done|DISK_FULL)$/ : /^(done|IO)$/, what);
      await equalsAfterwards(copy, content, what);
      rmSync(copy, { recursive: true });
      hits += injected.hits > 0 ? 1 : 0;
    }
    equal(hits, SOME.length, 'each was failed');
  });
});
