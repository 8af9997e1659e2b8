/**
 * Backups of a store that goes on meanwhile, restored and held against what the
 * chain itself says was unspent at their block; and what becomes of those that
 * are interrupted, damaged, or have no room.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { listBackups } from '../../src/store/backup/list.ts';
import { pinStore } from '../../src/store/backup/pinned-store.ts';
import { type RestoreOptions, restoreBackup, verifyBackup } from '../../src/store/backup/restore.ts';
import { type BackupOptions, type BackupReport, writeBackup } from '../../src/store/backup/write.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { nextTurn } from '../../src/util/time-slice.ts';
import { applyDevnet, DevnetStore } from '../support/devnet-store.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-backup-'));
after(() => rmSync(root, { recursive: true, force: true }));

const { config } = loadConfig({ env: {} });
const CHILD = join(import.meta.dirname, '../support/backup-child.ts');

const backupOf = (store: OpenStore, folder: string, options: BackupOptions = {}): Promise<BackupReport> =>
  writeBackup({ data: store.data, network: store.network, pin: () => pinStore(store) }, folder, options);
const restored = (folder: string, data: string, options: RestoreOptions = {}) => restoreBackup(folder, { ...options, data, config });
const coded = (code: Parameters<typeof isUnspentError>[1], pattern: RegExp) => (error: unknown) => {
  assert.ok(isUnspentError(error, code), `${error}`);
  assert.match((error as Error).message, pattern);
  return true;
};

async function digestIn(data: string): Promise<{ hash: string; digest: string }> {
  const store = await openStore({ data, config, create: false });
  try {
    return { hash: toHex(store.fold.head!.hash), digest: store.digest().digest };
  } finally {
    await store.close();
  }
}

for (const kind of ['rocks', 'sqlite']) {
  test(`backups made while blocks come and go are the set of their block (${kind})`, async () => {
    const folder = join(root, `load-${kind}`);
    const devnet = new DevnetStore(join(root, `data-${kind}`), 11, [`engine.kind=${kind}`]);
    devnet.mine(60);
    const store = await devnet.open();
    const digests = new Map<string, string>();
    let isOver = false;
    const load = async (): Promise<void> => {
      for (let turn = 0; !isOver; turn++) {
        if (turn % 5 === 4) devnet.chain.fork(1 + (turn % 3));
        else devnet.mine(1);
        applyDevnet(store, devnet.chain);
        digests.set(toHex(store.fold.head!.hash), devnet.chain.digest());
        await nextTurn();
      }
    };
    const loading = load();
    const reports: BackupReport[] = [];
    const moved: number[] = [];
    while (reports.length < 3) {
      const from = digests.size;
      reports.push(await backupOf(store, folder));
      moved.push(digests.size - from);
    }
    isOver = true;
    await loading;
    await store.close();
    assert.ok(
      moved.every((blocks) => blocks > 0),
      `blocks came meanwhile: ${moved.join()}`,
    );
    assert.deepEqual(readdirSync(devnet.data).sort(), ['db', 'unspent.json'], 'nothing is held any more');
    for (const { manifest } of reports) {
      const { hash } = manifest.point!;
      assert.equal(manifest.digest!.digest, digests.get(hash), 'as the chain says');
      const data = join(root, `again-${kind}-${manifest.name}`);
      await restored(folder, data, { name: manifest.name });
      assert.deepEqual(await digestIn(data), { hash, digest: digests.get(hash)! });
    }
  });
}

describe('a folder of backups', () => {
  const folder = join(root, 'backups');
  const data = join(root, 'data');
  const devnet = new DevnetStore(data, 12);
  let digest = '';
  let names: readonly string[] = [];
  const inode = (name: string, path: string): number => statSync(join(folder, name, 'store', path)).ino;

  test('takes what is new, and links what is not', async () => {
    devnet.mine(30);
    await (await devnet.open()).close();
    // Opening it has made tables of what was in the logs.
    const store = await devnet.open();
    const first = await backupOf(store, folder);
    const tables = (report: BackupReport) => report.manifest.files.filter(({ tail }) => tail !== undefined).map(({ path }) => path);
    const ofStore = tables(first).filter((path) => existsSync(join(data, path)));
    assert.ok(ofStore.length > 0 && first.linked.files === tables(first).length);
    for (const path of ofStore) assert.equal(inode(first.manifest.name, path), statSync(join(data, path)).ino, 'of the store');
    const second = await backupOf(store, folder);
    const shared = tables(second).filter((path) => tables(first).includes(path));
    assert.ok(shared.length > 0);
    for (const path of shared) assert.equal(inode(second.manifest.name, path), inode(first.manifest.name, path), 'of the backup before');
    devnet.mine(10);
    applyDevnet(store, devnet.chain);
    const third = await backupOf(store, folder, { copy: true });
    await store.close();
    digest = devnet.chain.digest();
    names = [first, second, third].map(({ manifest }) => manifest.name);
    const old = tables(third).filter((path) => shared.includes(path));
    assert.equal(third.linked.files, old.length, 'where links to the store are not wanted, an earlier backup is as good');
    const elsewhere = await (async () => {
      const last = await devnet.open();
      const report = await backupOf(last, join(root, 'copied'), { copy: true });
      await last.close();
      return report;
    })();
    assert.equal(elsewhere.linked.files, 0);
    for (const path of tables(elsewhere)) assert.equal(statSync(join(elsewhere.path, 'store', path)).nlink, 1, 'a copy');
  });

  test('is listed and checked, and lets go of what is too old', async () => {
    const { backups, unfinished } = listBackups(folder);
    assert.deepEqual([backups.map(({ name }) => name), unfinished], [names, []]);
    for (const name of names) assert.equal((await verifyBackup(folder, { name })).name, name);
    await assert.rejects(verifyBackup(folder, { name: 'another' }), coded('BACKUP_MISSING', /no backup another in .*; there are \d/));
    await assert.rejects(verifyBackup(data), coded('BACKUP_MISSING', /is not a folder of backups/));
    const store = await devnet.open();
    const { removed, manifest } = await backupOf(store, folder, { keep: 2 });
    await store.close();
    assert.deepEqual(removed, names.slice(0, 2));
    names = [names[2], manifest.name];
    assert.deepEqual(
      listBackups(folder).backups.map(({ name }) => name),
      names,
    );
    for (const name of names) await verifyBackup(folder, { name });
  });

  test('has a name of its own for each of several that are made at once', async () => {
    const store = await devnet.open();
    const place = join(root, 'at-once');
    const reports = await Promise.all([1, 2, 3, 4].map(() => backupOf(store, place)));
    await store.close();
    assert.equal(new Set(reports.map(({ manifest }) => manifest.name)).size, 4);
    assert.deepEqual(readdirSync(place).filter((name) => name !== 'unspent-backups.json').length, 4);
    for (const { manifest } of reports) await verifyBackup(place, { name: manifest.name });
  });

  test('is nothing else: neither a store nor a folder of somebody is written into', async () => {
    const store = await devnet.open();
    const others = join(root, 'others');
    mkdirSync(others);
    writeFileSync(join(others, 'letter.txt'), 'dear');
    for (const place of [others, data])
      await assert.rejects(backupOf(store, place), coded('STORE_FOREIGN', /is not a folder of backups and not empty/));
    await store.close();
    assert.deepEqual(readdirSync(others), ['letter.txt']);
    await assert.rejects(restored(folder, data), coded('STORE_EXISTS', /there is a store of 'devnet'/));
    await assert.rejects(restored(folder, others), coded('STORE_FOREIGN', /it holds letter.txt/));
  });

  test('of which a byte is not as it was gives no store, and leaves no trace', async () => {
    const [name] = names;
    const damaged = join(root, 'damaged');
    const whole = listBackups(folder).backups[0].manifest!;
    const sst = whole.files.find(({ path }) => path.endsWith('.sst'))!.path;
    const current = 'db/CURRENT';
    const at = (path: string): string => join(damaged, name, 'store', path);
    const flip = (path: string): void => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1] ^= 4;
      rmSync(path);
      writeFileSync(path, bytes);
    };
    const damages: readonly (readonly [() => void, RegExp])[] = [
      [() => flip(at(sst)), /\.sst has another hash/],
      [() => flip(at(current)), /CURRENT has another hash|cannot be opened/],
      [() => flip(at('unspent.json')), /unspent\.json/],
      [() => truncateSync(at(current), 3), /CURRENT has 3 bytes instead of/],
      [() => rmSync(at(sst)), /\.sst is missing/],
      [() => writeFileSync(at('db/more.sst'), 'x'), /db\/more\.sst is not in its manifest/],
      [() => flip(join(damaged, name, 'manifest.json')), /manifest\.json is not as it was written/],
    ];
    for (const [damage, message] of damages) {
      rmSync(damaged, { recursive: true, force: true });
      cpSync(folder, damaged, { recursive: true });
      damage();
      const to = join(root, 'nothing', 'here');
      await assert.rejects(restored(damaged, to, { name }), coded('BACKUP_INVALID', message));
      await assert.rejects(verifyBackup(damaged, { name }), coded('BACKUP_INVALID', /./));
      assert.ok(!existsSync(join(root, 'nothing')));
    }
  });

  test('whose digest is not that of its files gives no store either', async () => {
    const forged = join(root, 'forged');
    cpSync(folder, forged, { recursive: true });
    const path = join(forged, names[0], 'manifest.json');
    const { checkedText } = await import('../../src/util/checked-text.ts');
    const { checksum: _, ...content } = JSON.parse(readFileSync(path, 'utf8')) as { checksum: string; digest: object };
    writeFileSync(path, checkedText({ ...content, digest: { ...content.digest, digest: '00'.repeat(32) } }));
    await assert.rejects(
      restored(forged, join(root, 'nothing'), { name: names[0] }),
      coded('BACKUP_INVALID', /its digest is \w{64}, and says 0{64}/),
    );
    assert.ok(!existsSync(join(root, 'nothing')));
  });

  test('after a kill has the backups it had, and the next ones are made and restored as if nothing had been', async () => {
    const child = (...args: string[]) =>
      spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, ...args], { encoding: 'utf8' });
    const place = join(root, 'killed');
    const whole = child('backup', place, data);
    assert.match(whole.stdout, /^done \d+/, whole.stderr);
    const reports = Number(whole.stdout.trim().split(' ')[1]);
    for (const at of [1, Math.ceil(reports / 2), reports]) {
      assert.equal(child('backup', place, data, `${at}`).signal, 'SIGKILL');
      assert.equal(listBackups(place).backups.length, 1);
      assert.equal(listBackups(place).unfinished.length, 1, 'what the one before had left is gone');
      assert.equal(readdirSync(join(data, 'backup.pinned')).length, 1);
    }
    assert.match(child('backup', place, data).stdout, /^done/);
    assert.deepEqual(
      [listBackups(place).backups.length, listBackups(place).unfinished, existsSync(join(data, 'backup.pinned'))],
      [2, [], false],
    );
    const to = join(root, 'killed-restore');
    for (const at of [1, 12]) {
      assert.equal(child('restore', place, to, `${at}`).signal, 'SIGKILL');
      await assert.rejects(openStore({ data: to, config, create: false }), coded('STORE_UNFINISHED', /a backup was being restored into/));
    }
    assert.match(child('restore', place, to).stdout, /^done/);
    assert.equal((await digestIn(to)).digest, digest);
  });

  test('that is stopped, or has no room, leaves nothing half', async (t) => {
    const place = join(root, 'stopped');
    const store = await devnet.open();
    const stop = new AbortController();
    const stopping = backupOf(store, place, { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(stopping, coded('INTERRUPTED', /nothing is left/));
    await store.close();
    assert.deepEqual(readdirSync(place), ['unspent-backups.json']);
    assert.ok(!existsSync(join(data, 'backup.pinned')));
    const script = `mount -t tmpfs -o size=200k tmpfs ${place} && "$@"; status=$?; ls ${place} >&2; exit $status`;
    const full = spawnSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', process.execPath, CHILD, 'backup', place, data], {
      encoding: 'utf8',
    });
    if (full.stdout === '') return t.skip(`no file system of a small size here: ${full.stderr}`);
    assert.match(full.stdout, /^DISK_FULL: /);
    assert.match(full.stderr, /unspent-backups\.json\n$/);
    assert.doesNotMatch(full.stderr, /partial/);
  });

  test('has the wallets and the journal of the directory with it, and says what it has not', async () => {
    const wallets = new DatabaseSync(join(data, 'wallets.sqlite'));
    wallets.exec('PRAGMA journal_mode = WAL; CREATE TABLE coin (id INTEGER PRIMARY KEY, name TEXT)');
    const insert = wallets.prepare('INSERT INTO coin (name) VALUES (?)');
    for (let i = 0; i < 50; i++) insert.run(`coin ${i}`);
    wallets.exec('BEGIN');
    insert.run('not committed');
    writeFileSync(join(data, 'devnet.journal'), 'unspent devnet 2\nm 3\n');
    appendFileSync(join(data, 'devnet.journal'), 'm 4');
    writeFileSync(join(data, 'wallets.token'), 'secret');
    const store = await devnet.open();
    const place = join(root, 'with');
    const { manifest } = await backupOf(store, place);
    await store.close();
    wallets.close();
    assert.deepEqual([manifest.besides, manifest.leftOut], [['wallets.sqlite', 'devnet.journal'], ['wallets.token']]);
    const to = join(root, 'with-restored');
    await restored(place, to);
    assert.deepEqual(readdirSync(to).sort(), ['db', 'devnet.journal', 'unspent.json', 'wallets.sqlite']);
    assert.equal(statSync(join(to, 'wallets.sqlite')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(to, 'devnet.journal'), 'utf8'), 'unspent devnet 2\nm 3\n');
    const copy = new DatabaseSync(join(to, 'wallets.sqlite'));
    assert.deepEqual({ ...copy.prepare('SELECT count(*) AS coins FROM coin').get() }, { coins: 50 });
    copy.close();
  });
});
