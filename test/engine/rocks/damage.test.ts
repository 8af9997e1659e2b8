/** What becomes of a RocksDB store when its files are damaged, or its disk fails. */
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { storeError } from '../../../src/engine/rocks/errors.ts';
import { filesOf } from '../../support/open-copy.ts';
import { COLUMNS, coded, fill, NAMES, newDirectory, open, SMALL, SOURCE, shown } from './rig.ts';

describe('damage', () => {
  let whole: string;
  before(async () => {
    whole = newDirectory();
    const engine = await open(whole);
    fill(engine, 200, 100);
    await engine.close();
  });

  const first = (directory: string, pattern: RegExp) =>
    join(
      directory,
      readdirSync(directory)
        .sort()
        .find((name) => pattern.test(name))!,
    );
  const cut = (path: string, bytes: number) => truncateSync(path, statSync(path).size - bytes);
  const cutHalf = (path: string) => cut(path, statSync(path).size >> 1);
  const overwrite = (path: string) => writeFileSync(path, new Uint8Array(statSync(path).size).fill(7));

  const damages: Record<string, (directory: string) => void> = {
    'a table is missing': (at) => rmSync(first(at, /\.sst$/)),
    'a table is garbage': (at) => overwrite(first(at, /\.sst$/)),
    'a table is cut short': (at) => cutHalf(first(at, /\.sst$/)),
    'CURRENT is garbage': (at) => writeFileSync(join(at, 'CURRENT'), 'garbage'),
    'CURRENT names no manifest': (at) => writeFileSync(join(at, 'CURRENT'), 'MANIFEST-999999\n'),
    'CURRENT is missing': (at) => rmSync(join(at, 'CURRENT')),
    'the manifest is empty': (at) => truncateSync(first(at, /^MANIFEST/)),
    'the manifest is garbage': (at) => overwrite(first(at, /^MANIFEST/)),
    'the manifest is missing': (at) => rmSync(first(at, /^MANIFEST/)),
    'a table and the lock file are missing': (at) => {
      rmSync(first(at, /\.sst$/));
      rmSync(join(at, 'LOCK'));
    },
  };
  /** RocksDB takes these for the traces of a crash, or may; after a proper close they are damage. */
  const sealedDamages: Record<string, (directory: string) => void> = {
    'a log is missing': (at) => rmSync(first(at, /\.log$/)),
    'a log is cut short': (at) => cutHalf(first(at, /\.log$/)),
    'the manifest is cut in half': (at) => cutHalf(first(at, /^MANIFEST/)),
    'the last bytes of the manifest are missing': (at) => cut(first(at, /^MANIFEST/), 5),
  };

  const refuses = async (damage: (directory: string) => void) => {
    const directory = newDirectory();
    cpSync(whole, directory, { recursive: true });
    damage(directory);
    const files = filesOf(directory);
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
    deepEqual(filesOf(directory), files);
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
  };

  for (const [what, damage] of Object.entries({ ...damages, ...sealedDamages })) {
    it(`is refused and left as it was: ${what}`, () => refuses(damage));
  }
  for (const [what, damage] of Object.entries(damages)) {
    it(`is refused and left as it was after a crash too: ${what}`, () =>
      refuses((directory) => {
        rmSync(join(directory, 'unspent.seal'));
        damage(directory);
      }));
  }

  it('inside a table is an error where it is read, not a shorter answer', async () => {
    const directory = newDirectory();
    cpSync(whole, directory, { recursive: true });
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.sst'))) {
      const bytes = readFileSync(join(directory, name));
      bytes[bytes.length >> 2] ^= 0xff;
      writeFileSync(join(directory, name), bytes);
    }
    const engine = await open(directory);
    const read = async () => NAMES.map((name) => shown(engine.scan(name)));
    await rejects(read(), coded('STORE_DAMAGED', directory));
    await engine.close();
  });

  it('is not seen in a whole store, sealed or not', async () => {
    for (const sealed of [true, false]) {
      const directory = newDirectory();
      cpSync(whole, directory, { recursive: true });
      if (!sealed) rmSync(join(directory, 'unspent.seal'));
      const engine = await open(directory);
      equal(existsSync(join(directory, 'unspent.seal')), false);
      equal(shown(engine.scan('points')).length, 20_000);
      await engine.close();
      equal(existsSync(join(directory, 'unspent.seal')), true);
    }
  });
});

describe('a failing disk', () => {
  it('fails the commit, keeps the store as it was, and leaves it usable after reopening', {
    skip: process.platform === 'win32',
  }, async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    fill(engine, 5, 5);
    const contents = NAMES.map((name) => shown(engine.scan(name)));
    await engine.close();
    // A limit on file size fails the write in the middle of the log, as a full disk would.
    const script = `import { openRocks } from ${JSON.stringify(SOURCE)};
      const engine = await openRocks(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS)}, ${JSON.stringify(SMALL)});
      const batch = engine.batch();
      for (let at = 0; at < 100; at++) batch.put('points', Uint8Array.of(1, at), new Uint8Array(100_000));
      try { batch.commit(); console.log('committed'); } catch (error) { console.log(error.code); }
      console.log(batch.size, engine.get('points', Uint8Array.of(1, 0)));
      await engine.close().catch((error) => console.log('close', error.code));`;
    const shell = `trap '' XFSZ; ulimit -f 1000; exec "$0" --input-type=module -e "$1"`;
    const said = execFileSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' }).trim().split('\n');
    deepEqual(said.slice(0, 2), ['IO', '0 undefined']);
    const again = await open(directory);
    deepEqual(
      NAMES.map((name) => shown(again.scan(name))),
      contents,
    );
    fill(again, 6, 6);
    await again.close();
  });

  it('is told from damage by what RocksDB says', () => {
    const native = (code: string | undefined, message: string) => Object.assign(new Error(message), code ? { code } : {});
    const code = (cause: Error) => storeError(cause, '/store').code;
    equal(code(native('LEVEL_IO_ERROR', 'IO error: No space left on device: While appending to file: /store/000012.log')), 'DISK_FULL');
    equal(code(native('LEVEL_IO_ERROR', 'IO error: While fsync: /store/000012.log: Input/output error')), 'IO');
    equal(code(native('LEVEL_CORRUPTION', 'Corruption: block checksum mismatch')), 'STORE_DAMAGED');
    equal(code(native(undefined, 'Invalid argument: whatever')), 'IO');
    const cause = native('LEVEL_IO_ERROR', 'IO error: x');
    equal(storeError(cause, '/store').cause, cause);
  });
});
