/**
 * A store that begins with a node's dump: the set, the indexes and the roots of
 * a store that read every block, also after following on and through a turn of
 * the chain; and what is refused leaves nothing behind.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { bitcoinNetwork, OUTPUT_FLAG } from '../../src/ledgers/bitcoin/index.ts';
import { outpointIndex, outpointTxId } from '../../src/ledgers/outpoint.ts';
import { readStored } from '../../src/projections/coin.ts';
import { keyOf } from '../../src/projections/packed.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { HeaderRules } from '../../src/sources/bitcoin/header-rules.ts';
import { importNodeSet, type NodeSetImport } from '../../src/store/node-sets.ts';
import { exportSnapshot } from '../../src/store/snapshots.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { readBigU64, toHex } from '../../src/util/bytes.ts';
import { TEST_SEED } from '../support/harness.ts';
import { compactAt, type DumpedCoin, type DumpForm, writeUtxoDump } from '../support/utxo-dump.ts';
import { applyIn, assertFails, bitcoin, configOf, synced, temporary, withStore } from './world.ts';

const world = bitcoin(TEST_SEED + 40);
const network = bitcoinNetwork(world.network);
const folder = temporary();
const place = (name: string): string => join(folder, name);
const headerOf = (height: number): Uint8Array => world.blocks[height].raw.subarray(0, 80);

/** Blocks here are not mined: the newest below the fork whose header happens to have the work of regtest. */
const HEIGHT = world.blocks.findLastIndex(
  ({ hash }, height) => height < world.fork.from && new HeaderRules(network).hasWork(headerOf(height), hash),
);

function coinsOf(store: OpenStore): DumpedCoin[] {
  return Array.from(store.engine.scan(UNSPENT), ([key, value]) => {
    const { raw, height, flags } = readStored(value);
    const amount = readBigU64(raw.slice(0, 8).reverse(), 0);
    const script = raw.slice(8 + compactAt(raw, 8));
    return {
      txId: outpointTxId(key).slice(),
      index: outpointIndex(key),
      height,
      coinbase: (flags & OUTPUT_FLAG.coinbase) !== 0,
      value: amount,
      script,
    };
  });
}

interface Said {
  readonly digest: string;
  readonly hash2: string;
  readonly hash3: string;
  readonly muhash: string;
}

const sayingOf = (store: OpenStore): Said => {
  const { hashSerialized2: hash2, hashSerialized3: hash3, muhash } = store.commitment()!;
  return { digest: store.digest().digest, hash2, hash3, muhash: muhash! };
};

let coins: DumpedCoin[] = [];
let said: Said;
const header = toHex(headerOf(HEIGHT));
const dumps: Record<DumpForm, string> = { grouped: place('grouped.dump'), counted: place('counted.dump'), plain: place('plain.dump') };

before(async () => {
  await synced(world, place('whole'), HEIGHT + 1, 50, (store) => {
    coins = coinsOf(store);
    said = sayingOf(store);
  });
  for (const [form, path] of Object.entries(dumps) as [DumpForm, string][])
    writeFileSync(path, writeUtxoDump(form, { baseHash: world.blocks[HEIGHT].hash, magic: network.magic, coins }));
});

function imported(from: string, data: string, given: Partial<NodeSetImport> = {}, set: readonly string[] = [], name = world.network) {
  const config = configOf([`network=${name}`, `data=${place(data)}`, ...set]);
  return importNodeSet(from, { config, header, ...given });
}

/** Rows of the unspent set without where a transaction stands in its block, which a node does not tell. */
function placeless(store: OpenStore): string[] {
  return Array.from(store.engine.scan(UNSPENT), ([key, value]) => {
    const { txIndex: _, ...rest } = readStored(value);
    return `${toHex(key)} ${rest.height} ${rest.flags} ${rest.value} ${toHex(rest.raw)} ${toHex(keyOf(rest, 'address', store.network.ledger)!)}`;
  });
}

describe("a store from a node's dump", () => {
  it('is that of every block, in each form of the file, by each kind of hash', async () => {
    const hashes = [{ hashSerialized: said.hash2 }, { hashSerialized: said.hash3.toUpperCase() }, { setHash: said.muhash }];
    for (const [i, [form, path]] of Object.entries(dumps).entries()) {
      const rows: number[] = [];
      const done = await imported(path, form, { ...hashes[i], onRows: (n) => rows.push(n) });
      assert.deepEqual([done.digest, done.utxos, done.point.height], [said.digest, coins.length, HEIGHT], form);
      assert.ok(rows.length > 0 && rows.at(-1) === coins.length);
      await withStore(world, place(form), (store) => {
        assert.deepEqual(sayingOf(store), said, form);
        assert.deepEqual(store.verify().faults, [], form);
      });
    }
  });

  it('follows on, through a turn, with all that is kept', async () => {
    await imported(dumps.grouped, 'kept', { hashSerialized: said.hash3 }, world.everything);
    const { blocks, fork } = world;
    const lived = async (data: string, from: number): Promise<{ set: string[]; balances: string; csmt: string }> =>
      withStore(
        world,
        place(data),
        (store) => {
          applyIn(store, blocks.slice(from, fork.from + 1), 7);
          applyIn(store, fork.blocks, 1);
          store.rollback(blocks[fork.from]);
          applyIn(store, blocks.slice(fork.from + 1), 9);
          store.rollback(blocks[HEIGHT]);
          assert.equal(sayingOf(store).digest, said.digest, `${data}: back at the block it began with`);
          applyIn(store, blocks.slice(HEIGHT + 1), 20);
          assert.deepEqual(store.verify().faults, [], data);
          const rows = (column: string): string => Array.from(store.engine.scan(column), ([k, v]) => `${toHex(k)} ${toHex(v)}`).join('\n');
          return { set: placeless(store), balances: rows('balance_address'), csmt: rows('csmt') };
        },
        world.everything,
      );
    assert.deepEqual(await lived('kept', HEIGHT + 1), await lived('kept-whole', 0));
  });

  it('answers a page of a script with every output, though places are not known', async () => {
    await withStore(world, place('plain'), (begun) =>
      withStore(world, place('whole'), (whole) => {
        const byKey = Map.groupBy(placeless(whole), (row) => row.slice(row.lastIndexOf(' ') + 1));
        for (const [key, rows] of byKey) {
          const page = begun.read((query) => [...query.byKey('address', Buffer.from(key, 'hex'))]);
          assert.equal(page.length, rows.length, key);
        }
      }),
    );
  });

  it('refuses what is not right, and leaves nothing behind', async () => {
    const right = { hashSerialized: said.hash3 };
    const wrongHash = '00'.repeat(32);
    const cases: readonly (readonly [string, Parameters<typeof assertFails>[1], () => Promise<unknown>])[] = [
      ['no hash at all', 'USAGE', () => imported(dumps.plain, 'none')],
      ['no header', 'USAGE', () => imported(dumps.plain, 'none', { ...right, header: undefined })],
      ['another hash', 'SNAPSHOT_INVALID', () => imported(dumps.plain, 'none', { hashSerialized: wrongHash })],
      ['another muhash', 'SNAPSHOT_INVALID', () => imported(dumps.plain, 'none', { setHash: wrongHash })],
      ['another block', 'SNAPSHOT_INVALID', () => imported(dumps.plain, 'none', { ...right, block: wrongHash })],
      [
        "another block's header",
        'SNAPSHOT_INVALID',
        () => imported(dumps.plain, 'none', { ...right, header: toHex(headerOf(HEIGHT - 1)) }),
      ],
      ['another network, which the file names', 'STORE_NETWORK', () => imported(dumps.grouped, 'none', right, [], 'bitcoin')],
      ['another network, which has more work', 'SNAPSHOT_INVALID', () => imported(dumps.plain, 'none', right, [], 'bitcoin')],
      ['Cardano', 'USAGE', () => imported(dumps.plain, 'none', right, [], 'preview')],
      ['history', 'UNSUPPORTED', () => imported(dumps.plain, 'none', right, ['utxo.history=true'])],
      ['a store that is there', 'STORE_EXISTS', () => imported(dumps.plain, 'plain', right)],
    ];
    for (const [what, code, body] of cases) await assertFails(body, code, what);
    assert.ok(!existsSync(place('none')));
  });

  it('refuses links, pipes, devices and folders', async () => {
    symlinkSync(dumps.plain, place('link'));
    execFileSync('mkfifo', [place('pipe')]);
    mkdirSync(place('a-folder'));
    for (const path of [place('link'), place('pipe'), place('a-folder'), '/dev/zero'])
      await assertFails(() => imported(path, 'none', { hashSerialized: said.hash3 }), 'IO', path);
  });

  it('stops when it is told to, and leaves nothing', async () => {
    const stop = new AbortController();
    stop.abort();
    await assertFails(() => imported(dumps.plain, 'none', { hashSerialized: said.hash3, signal: stop.signal }), 'INTERRUPTED', 'stopped');
    assert.ok(!existsSync(place('none')));
  });

  it('gives no snapshot: others could not make the same', async () => {
    await withStore(world, place('plain'), (store) =>
      assertFails(() => exportSnapshot(store, place('export')), 'UNSUPPORTED', "of a store that began with a node's set"),
    );
  });
});
