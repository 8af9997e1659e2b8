/** A healthy store on a disk that is all but full: what looks at it says so at most, and when there is room again it is what it was. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { DevnetStore } from '../support/devnet-store.ts';
import type { FullDiskLine } from '../support/full-disk-child.ts';
import { copyOfOpen } from '../support/open-copy.ts';

const CHILD = join(import.meta.dirname, '../support/full-disk-child.ts');

describe('a disk that is all but full', () => {
  const root = mkdtempSync(join(tmpdir(), 'unspent-full-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const kind of ['rocks', 'sqlite']) {
    test(`with 0 to 64 kB free (${kind})`, async (t) => {
      const devnet = new DevnetStore(join(root, kind), 4, [`engine.kind=${kind}`, 'engine.memtableBytes=1000000']);
      devnet.mine(60);
      const store = await devnet.open();
      const { digest } = store.digest();
      const unclosed = join(root, `${kind}-unclosed`);
      await copyOfOpen(devnet.data, unclosed);
      await store.close();
      const closed = join(root, `${kind}-closed`);
      cpSync(devnet.data, closed, { recursive: true });
      const place = join(root, `${kind}-place`);
      mkdirSync(place);
      for (const original of [closed, unclosed]) {
        const script = `mount -t tmpfs -o size=40m tmpfs ${place} && exec "$@"`;
        const ran = spawnSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', process.execPath, CHILD, place, original], {
          encoding: 'utf8',
        });
        if (ran.stdout === '' && /mount|unshare|permitted/.test(ran.stderr ?? 'unshare'))
          return t.skip(`no small file system here: ${ran.stderr}`);
        const lines = ran.stdout
          .split('\n')
          .filter(Boolean)
          .map((line): FullDiskLine => JSON.parse(line));
        t.diagnostic(lines.map(({ freeKb, said }) => `${freeKb}: ${said}`).join(', '));
        assert.equal(lines.length, 8, ran.stderr);
        for (const line of lines) {
          assert.match(line.said, /^(done|DISK_FULL)$/, JSON.stringify(line));
          assert.equal(line.digest, digest, JSON.stringify(line));
        }
        assert.equal(lines[0].said, 'DISK_FULL', 'it really was full');
      }
    });
  }
});
