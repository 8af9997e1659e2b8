/**
 * Whatever is wrong with a snapshot, its import fails with a typed error and
 * leaves nothing behind: bits that turned, files that are gone or too long, and
 * changes by somebody who knows how to make the hashes fit.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { openNetwork } from '../../src/families/networks.ts';
import type { Ledger } from '../../src/ledgers/ledger.ts';
import { AT } from '../../src/projections/coin.ts';
import type { SnapshotManifest } from '../../src/snapshot/manifest.ts';
import { writeSnapshot } from '../../src/snapshot/write.ts';
import { importSnapshot, verifySnapshot } from '../../src/store/snapshots.ts';
import { readU32, writeU32 } from '../../src/util/bytes.ts';
import type { ErrorCode } from '../../src/util/errors.ts';
import { TEST_SEED } from '../support/harness.ts';
import { copied, type ForgedRow, type ForgeOptions, forge, manifestOf, rewrite, rowsOf } from './forge.ts';
import { assertFails, bitcoin, CHUNK_BYTES, cardano, configOf, exported, synced, temporary, type World } from './world.ts';

const PLACES = 100;

/** A good snapshot, and ways to spoil copies of it. */
class Bench {
  readonly world: World;
  readonly good: string;
  readonly ledger: Ledger;
  private readonly folder = temporary();

  constructor(world: World) {
    this.world = world;
    this.good = join(this.folder, 'good');
    this.ledger = openNetwork(world.network, world.genesis ?? null).ledger;
  }

  async begin(): Promise<void> {
    await synced(this.world, join(this.folder, 'store'), 140, 100, (store) => exported(store, this.good));
    await verifySnapshot(this.good);
  }

  /** Neither verification nor import takes it, and the second leaves no trace. */
  async refused(what: string, spoil: (folder: string) => void, code: ErrorCode = 'SNAPSHOT_INVALID'): Promise<string> {
    const folder = copied(this.good, join(this.folder, 'bad'));
    spoil(folder);
    await assertFails(() => verifySnapshot(folder), code, `verify, ${what}`);
    const data = join(this.folder, 'new');
    const message = await assertFails(() => importSnapshot(folder, { data, config: configOf([]) }), code, `import, ${what}`);
    assert.ok(!existsSync(data), `${what}: nothing is left behind`);
    return message;
  }

  /** Rows are changed and everything is hashed again. */
  forged(what: string, change: (rows: ForgedRow[]) => void, options: ForgeOptions = {}): Promise<string> {
    return this.refused(what, (folder) => {
      const rows = rowsOf(folder);
      change(rows);
      forge(folder, rows, this.ledger, options);
    });
  }

  /** The same for rows that cannot be summed up: it is the row that is complained about, not the sums. */
  async malformed(what: string, change: (rows: ForgedRow[]) => void): Promise<void> {
    assert.match(
      await this.forged(what, change, { summed: false }),
      /^\d{6}\.chunk(: the row at byte| has an output [0-9a-f]+#\d+ that)/,
      what,
    );
  }
}

function flip(path: string, at: number, bit: number): void {
  const bytes = readFileSync(path);
  bytes[at] ^= 1 << bit;
  writeFileSync(path, bytes);
}

function suite(bench: Bench): void {
  const random = new Random(TEST_SEED, 3);
  before(() => bench.begin());

  it('a bit that turned, in any file', async () => {
    for (const name of readdirSync(bench.good)) {
      const size = readFileSync(join(bench.good, name)).length;
      const places = name === 'manifest.json' ? PLACES : 1;
      for (let i = 0; i < places; i++) {
        const [at, bit] = [random.int(size), random.int(8)];
        await bench.refused(`bit ${bit} of byte ${at} of ${name}`, (folder) => flip(join(folder, name), at, bit));
      }
    }
  });

  it('files that are gone, cut, longer or others', async () => {
    const { chunks } = manifestOf(bench.good);
    const [first, second] = chunks.map(({ file }) => file);
    const last = chunks[chunks.length - 1].file;
    await bench.refused('no manifest', (folder) => rmSync(join(folder, 'manifest.json')));
    await bench.refused('an empty manifest', (folder) => writeFileSync(join(folder, 'manifest.json'), ''));
    for (const file of [first, last]) {
      await bench.refused(`no ${file}`, (folder) => rmSync(join(folder, file)));
      await bench.refused(`${file} cut`, (folder) => truncateSync(join(folder, file), 20));
      await bench.refused(`${file} longer`, (folder) => appendFileSync(join(folder, file), 'x'));
    }
    await bench.refused('chunks exchanged', (folder) => {
      renameSync(join(folder, first), join(folder, 'x'));
      renameSync(join(folder, second), join(folder, first));
      renameSync(join(folder, 'x'), join(folder, second));
    });
    await bench.refused('a chunk too many', (folder) => writeFileSync(join(folder, '999999.chunk'), 'x'));
    await bench.refused('something behind the manifest', (folder) => appendFileSync(join(folder, 'manifest.json'), '\n'));
    await bench.refused('no folder', (folder) => rmSync(folder, { recursive: true }));
  });

  it('files that are no regular ones: nothing waits for them, and nothing reads without end', async () => {
    const odd: readonly [kind: string, make: (path: string) => void][] = [
      ['a named pipe', (path) => execFileSync('mkfifo', [path])],
      ['a directory', (path) => mkdirSync(path)],
      ['a symbolic link', (path) => symlinkSync('/dev/zero', path)],
      ['a symbolic link', (path) => symlinkSync(join(bench.good, basename(path)), path)],
    ];
    const [first] = manifestOf(bench.good).chunks;
    for (const file of ['manifest.json', first.file]) {
      for (const [kind, make] of odd) {
        const message = await bench.refused(`${file} is ${kind}`, (folder) => {
          rmSync(join(folder, file));
          make(join(folder, file));
        });
        assert.equal(message, `${file} is ${kind}; a snapshot has regular files only`);
      }
    }
  });

  it('rows in another order, twice, or not whole', async () => {
    await bench.malformed('two rows exchanged', (rows) => rows.splice(3, 2, rows[4], rows[3]));
    await bench.malformed('a row twice', (rows) => rows.splice(5, 0, rows[5]));
    await bench.malformed('all backwards', (rows) => rows.reverse());
    await bench.malformed('a row without a value', (rows) => {
      rows[2].value = new Uint8Array(0);
    });
    await bench.malformed('a header without an output', (rows) => {
      rows[2].value = rows[2].value.slice(0, 25);
    });
    await bench.malformed('a row cut inside its output', (rows) => {
      rows[2].value = rows[2].value.slice(0, -1);
    });
    await bench.malformed('a byte behind an output', (rows) => {
      rows[2].value = Uint8Array.of(...rows[2].value, 0);
    });
  });

  it('rows that do not say what they are', async () => {
    const set = (at: number, value: number) => (rows: ForgedRow[]) => {
      const { value: bytes } = rows[7];
      bytes[at < 0 ? bytes.length + at : at] = value;
    };
    await bench.malformed('another value in the header', set(AT.value + 7, 0xfe));
    await bench.malformed('no index keys', (rows) => {
      rows[7].value[0] &= 0x1f;
    });
    await bench.malformed('another index key', (rows) => {
      const { value } = rows[7];
      value[AT.keys + 4] ^= 1;
    });
    await bench.malformed('a height above the block', (rows) => writeU32(rows[7].value, AT.height, 5000));
    await bench.malformed('a slot above the block', (rows) => writeU32(rows[7].value, AT.slot, 1));
  });

  it('sums that are not those of the rows', async () => {
    const changed = (change: Partial<SnapshotManifest>) => (folder: string) => rewrite(folder, (manifest) => ({ ...manifest, ...change }));
    const { utxos, value, roots, chunks } = manifestOf(bench.good);
    await bench.refused('one more', changed({ utxos: utxos + 1 }));
    await bench.refused('worth more', changed({ value: (BigInt(value) + 1n).toString() }));
    await bench.refused('another digest', changed({ roots: { ...roots, digest: roots.setHash } }));
    await bench.refused('another hash of the set', changed({ roots: { ...roots, setHash: roots.digest } }));
    await bench.refused('another number of rows', changed({ chunks: [{ ...chunks[0], rows: chunks[0].rows + 1 }, ...chunks.slice(1)] }));
    await bench.refused('another first key', changed({ chunks: [{ ...chunks[0], first: chunks[0].last }, ...chunks.slice(1)] }));
    await bench.refused('other sizes', changed({ chunks: [{ ...chunks[0], bytes: 2 ** 40 }, ...chunks.slice(1)] }));
    await bench.forged('a row taken out, sums as before', (rows) => rows.splice(9, 1), { summed: false });
    await bench.forged('cut elsewhere', () => {}, { cutAt: CHUNK_BYTES[bench.ledger.family as keyof typeof CHUNK_BYTES] / 2 });
    await bench.forged('not cut at all', () => {}, { cutAt: 1 << 20 });
  });

  it('a block of which the manifest says what its header does not', async () => {
    const { point, era, header } = manifestOf(bench.good);
    const { family } = bench.ledger;
    const changed = (change: Partial<SnapshotManifest>) => (folder: string) => rewrite(folder, (manifest) => ({ ...manifest, ...change }));
    const moved = (change: Partial<SnapshotManifest['point']>) => changed({ point: { ...point, ...change } });
    const another = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1);
    await bench.refused('another hash', moved({ hash: another(point.hash) }));
    await bench.refused('another slot', moved({ slot: point.slot + 1 }));
    await bench.refused('a boundary block', moved({ boundary: true }));
    // Where height and slot are one thing both are changed: only then is nothing but the height wrong.
    for (const height of [point.height + 1, point.height - 1, 0, 2 ** 31]) {
      const message = await bench.refused(`height ${height}`, moved(family === 'bitcoin' ? { height, slot: height } : { height }));
      if (height > point.height) assert.match(message, new RegExp(`says height ${height}, and `));
    }
    // The fault that was: with the true hash of the set such a store was made, and could never follow.
    const { setHash } = manifestOf(bench.good).roots;
    const higher = copied(bench.good, join(temporary(), 'higher'));
    moved({ height: point.height + 1, slot: family === 'bitcoin' ? point.height + 1 : point.slot })(higher);
    await assertFails(() => verifySnapshot(higher, { setHash, block: point.hash }), 'SNAPSHOT_INVALID', 'a false height, all hashes true');
    await bench.refused('another header', changed({ header: another(header) }));
    await bench.refused('a header cut', changed({ header: header.slice(0, -2) }));
    await bench.refused('bytes behind the header', changed({ header: `${header}00` }));
    await bench.refused('no header', changed({ header: '' }));
    if (family === 'cardano') for (const other of [era - 2, 0, 9, 255]) await bench.refused(`era ${other}`, changed({ era: other }));
  });

  it('a height that neither header nor set shows', {
    skip: bench.ledger.family === 'bitcoin' ? false : 'a Cardano header says it',
  }, async () => {
    const { network, point, era, header } = manifestOf(bench.good);
    const isOlder = ({ value }: ForgedRow): boolean => readU32(value, AT.height) < point.height;
    const message = await bench.forged('no output of the block itself', (rows) => rows.splice(0, rows.length, ...rows.filter(isOlder)));
    assert.match(message, new RegExp(`says height ${point.height}, and the newest output is of height`));
    const older = rowsOf(bench.good)
      .filter(isOlder)
      .map(({ key, value }) => [key, value] as const);
    const folder = join(temporary(), 'none');
    await assertFails(() => writeSnapshot(folder, { network, point, era, header }, older, bench.ledger), 'UNSUPPORTED', 'export');
    assert.ok(!existsSync(folder));
  });

  it('another network', async () => {
    const renamed = (change: Partial<SnapshotManifest['network']>) => (folder: string) =>
      rewrite(folder, (manifest) => ({ ...manifest, network: { ...manifest.network, ...change } }));
    await bench.refused('another magic', renamed({ magic: 7 }), 'STORE_NETWORK');
    await bench.refused('another name', renamed({ name: 'preprod' }), 'STORE_NETWORK');
    await bench.refused('no such name', renamed({ name: 'nowhere' }), 'NETWORK_UNKNOWN');
    await assertFails(() => verifySnapshot(bench.good, { network: 'preprod' }), 'STORE_NETWORK', 'not the one wanted');
  });

  it('not the one that was promised', async () => {
    const { id, roots, point } = await verifySnapshot(bench.good);
    const { setHash } = roots;
    await verifySnapshot(bench.good, { id: id.toUpperCase(), setHash, block: point.hash });
    await assertFails(() => verifySnapshot(bench.good, { setHash, block: setHash }), 'SNAPSHOT_INVALID', 'of another block');
    const folder = copied(bench.good, join(temporary(), 'less'));
    // Consistent in itself: only who knows the hash can tell.
    forge(folder, rowsOf(folder).slice(1), bench.ledger);
    await verifySnapshot(folder);
    await assertFails(() => verifySnapshot(folder, { id }), 'SNAPSHOT_INVALID', 'another id');
    await assertFails(() => verifySnapshot(folder, { setHash }), 'SNAPSHOT_INVALID', 'another set hash');
  });
}

describe('a damaged snapshot', () => {
  describe('of Cardano', () => suite(new Bench(cardano(TEST_SEED + 5, 'conway'))));
  describe('of Bitcoin', () => suite(new Bench(bitcoin(TEST_SEED + 6))));
});
