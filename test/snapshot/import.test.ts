/**
 * Where an import may not go, what an export refuses, and what is left when the
 * process is killed in the middle: nothing, a directory that says it was not
 * finished, or the whole store; and the next import makes the same of all three.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/chains/random.ts';
import { readIdentity } from '../../src/engine/directory.ts';
import { exportSnapshot, importSnapshot } from '../../src/store/snapshots.ts';
import { openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import { TEST_SEED } from '../support/harness.ts';
import { assertFails, bitcoin, cardano, configOf, exported, filesOf, imported, synced, temporary, withStore } from './world.ts';

const KILLS = 12;
/** How long an import of these takes, with room to spare. */
const IMPORT_MS = 250;
const CHILD = join(import.meta.dirname, 'import-child.ts');

const world = bitcoin(TEST_SEED + 8);
const folder = temporary();
const snapshot = join(folder, 'snapshot');
const place = (name: string): string => join(folder, name);
let digest = '';

before(async () => {
  digest = await synced(world, place('store'), 150, 100, async (store) => {
    await exported(store, snapshot);
    return store.digest().digest;
  });
});

const opened = (data: string) => openStore({ data, create: false, config: configOf([]) });

describe('an import', () => {
  it('goes only where nothing is', async () => {
    await assertFails(() => imported(world, snapshot, place('store')), 'STORE_EXISTS', 'a store');
    mkdirSync(place('foreign'));
    writeFileSync(join(place('foreign'), 'letter.txt'), 'mine');
    await assertFails(() => imported(world, snapshot, place('foreign')), 'STORE_FOREIGN', 'something else');
    assert.deepEqual(readdirSync(place('foreign')), ['letter.txt']);
    mkdirSync(place('empty'));
    await imported(world, snapshot, place('empty'));
    await assertFails(() => imported(world, snapshot, place('empty')), 'STORE_EXISTS', 'the store it made itself');
    assert.equal(await withStore(world, place('empty'), (store) => store.digest().digest), digest);
  });

  it('keeps nothing that needs every block', async () => {
    for (const set of ['utxo.history=true', 'utxo.store=mmr', 'utxo.enabled=false']) {
      await assertFails(() => imported(world, snapshot, place('short'), [set]), 'UNSUPPORTED', set);
      assert.ok(!existsSync(place('short')), set);
    }
    await imported(world, snapshot, place('short'));
    await assertFails(() => withStore(world, place('short'), () => {}, ['utxo.history=true']), 'STORE_SHAPE', 'switched on later');
    await withStore(world, place('short'), (store) => store.fill(), world.everything);
  });

  it('stops when it is told to, and leaves nothing', async () => {
    const stop = new AbortController();
    const onRows = (): void => stop.abort();
    await assertFails(
      () => importSnapshot(snapshot, { data: place('stopped'), config: configOf([]), signal: stop.signal, onRows }),
      'INTERRUPTED',
      'stopped',
    );
    assert.ok(!existsSync(place('stopped')));
  });

  it('does not disturb another one at work in the same place', async () => {
    let second: Promise<string> | undefined;
    const onRows = (): void => {
      second ??= assertFails(() => imported(world, snapshot, place('shared')), 'STORE_LOCKED', 'the second');
    };
    await importSnapshot(snapshot, { data: place('shared'), config: configOf([]), onRows });
    await second;
    assert.equal(await withStore(world, place('shared'), (store) => store.digest().digest), digest);
  });

  it('begins with what its own files say where the network is a private one', async () => {
    const devnet = cardano(TEST_SEED + 9, 'conway');
    await synced(devnet, place('devnet-store'), 50, 10, (store) => exported(store, place('devnet')));
    // Without genesis files: the manifest has what is needed.
    await importSnapshot(place('devnet'), { data: place('devnet-new'), config: configOf([]) });
    assert.deepEqual(readIdentity(place('devnet-new'))?.['parameters'], readIdentity(place('devnet-store'))?.['parameters']);
    const other = {
      ...devnet,
      genesis: { ...devnet.genesis!, shelley: devnet.genesis!.shelley.replace(/"epochLength":\s*\d+/, '"epochLength":7') },
    };
    await assertFails(() => imported(other, place('devnet'), place('devnet-wrong')), 'STORE_NETWORK', 'genesis files of another network');
    assert.ok(!existsSync(place('devnet-wrong')));
  });
});

describe('an export', () => {
  it('refuses what would not be the whole set', async () => {
    await withStore(world, place('nothing'), (store) =>
      assertFails(() => exportSnapshot(store, place('none')), 'UNSUPPORTED', 'a store without blocks'),
    );
    const partial = await openStore({ data: place('partial'), network: world.network, partial: true, config: configOf([]) });
    try {
      partial.fold.apply(world.blocks.slice(50, 60));
      await assertFails(() => exportSnapshot(partial, place('none')), 'UNSUPPORTED', 'a partial store');
    } finally {
      await partial.close();
    }
  });

  it('writes into a new folder or not at all', async () => {
    await withStore(world, place('store'), async (store) => {
      await assertFails(() => exportSnapshot(store, snapshot), 'STORE_FOREIGN', 'a folder with something in it');
      const stop = new AbortController();
      stop.abort();
      await assertFails(() => exportSnapshot(store, place('none'), { signal: stop.signal }), 'INTERRUPTED', 'stopped');
      await assertFails(() => exportSnapshot(store, place('none'), { at: world.fork.blocks[0] }), 'POINT_UNKNOWN', 'another branch');
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith('none') || name.includes('.partial-')),
        [],
      );
    });
  });

  it('is of one moment, whatever the store does meanwhile', async () => {
    const files = await withStore(world, place('busy'), async (store) => {
      store.fold.apply(world.blocks.slice(0, 150));
      let next = 150;
      const onRows = (): void => void (next < world.blocks.length && store.fold.apply([world.blocks[next++]]));
      await exportSnapshot(store, place('while'), { chunkBytes: 10_000, onRows });
      assert.ok((store.fold.head?.height ?? 0) > 150);
      return filesOf(place('while'));
    });
    assert.deepEqual(files, filesOf(snapshot));
  });
});

describe('kill -9 during an import', () => {
  it(`leaves nothing that opens by mistake, ${KILLS} times`, async (t) => {
    const random = new Random(TEST_SEED, 11);
    const landed = { nothing: 0, unfinished: 0, whole: 0 };
    const data = place('killed');
    for (let i = 0; i < KILLS || landed.unfinished < 3; i++) {
      assert.ok(i < 4 * KILLS, `hardly a kill landed where it should: ${JSON.stringify(landed)}`);
      await killed(data, random.int(IMPORT_MS));
      const found = await look(data);
      landed[found]++;
      if (found === 'whole' && random.chance(0.5)) await assertFails(() => imported(world, snapshot, data), 'STORE_EXISTS', 'whole');
      if (found === 'whole') rmSync(data, { recursive: true });
      // Now and then two are killed one after the other.
      else if (random.chance(0.6)) await finish(data);
    }
    t.diagnostic(JSON.stringify(landed));
  });
});

async function killed(data: string, ms: number): Promise<void> {
  const child = spawn(process.execPath, [CHILD, snapshot, data], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(folder),
  });
  const gone = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), gone]);
  await Promise.race([sleep(ms), gone]);
  child.kill('SIGKILL');
  await gone;
}

async function look(data: string): Promise<'nothing' | 'unfinished' | 'whole'> {
  if (!existsSync(data) || readIdentity(data) === null) return 'nothing';
  try {
    const store = await opened(data);
    assert.equal(store.digest().digest, digest);
    assert.deepEqual(store.verify().faults, []);
    await store.close();
    return 'whole';
  } catch (error) {
    if (!isUnspentError(error, 'STORE_UNFINISHED')) throw error;
    return 'unfinished';
  }
}

async function finish(data: string): Promise<void> {
  await imported(world, snapshot, data);
  assert.equal(await look(data), 'whole');
  rmSync(data, { recursive: true });
}
