/**
 * Every file operation of opening and closing a store fails once, and from each
 * on all of its kind fail, with what a full or a broken disk says (strace). The
 * store must open afterwards and be what it was; where RocksDB aborts, too.
 */
import { ok } from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { temporaryFolder } from '../support/crash-store.ts';
import { equalsAfterwards, inject, makeFaultStore, SYSTEM_CALLS, straceSkip } from '../support/fault-rig.ts';

let folder: string;
const contents = new Map<string, string>();
before(async () => {
  folder = temporaryFolder();
  for (const name of ['closed', 'open']) contents.set(name, await makeFaultStore(join(folder, name), name === 'closed'));
});
after(() => rmSync(folder, { recursive: true }));

for (const [call, codes] of Object.entries(SYSTEM_CALLS)) {
  for (const code of codes) {
    test(`${call} fails with ${code}`, { skip: straceSkip() }, async (t) => {
      const said: Record<string, number> = {};
      for (const [name, content] of contents) {
        for (const from of [false, true]) {
          for (let nth = 1, hits = 1; hits > 0; nth++) {
            const copy = join(folder, 'copy');
            cpSync(join(folder, name), copy, { recursive: true });
            const injected = inject(copy, call, code, nth, from);
            hits = injected.hits;
            const outcome = injected.said ?? `died (${injected.signal})`;
            said[outcome] = (said[outcome] ?? 0) + 1;
            const what = `${call} ${nth}${from ? '+' : ''} with ${code} in a store left ${name}: ${outcome}`;
            ok(/^(done|IO|died \(SIGABRT\))$/.test(outcome) || (code === 'ENOSPC' && outcome === 'DISK_FULL'), what);
            await equalsAfterwards(copy, content, what);
            rmSync(copy, { recursive: true });
          }
        }
      }
      t.diagnostic(JSON.stringify(said));
    });
  }
}
