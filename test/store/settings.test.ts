/**
 * A store knows its own ways: what nobody says when it is opened again stays as
 * it was, what is said is done or refused, and who only looks changes nothing. A
 * store without a block may become anything, and leaves no trace when it is
 * discarded.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { openEmbedded } from '../../src/families/open-source.ts';
import { type OpenOptions, type OpenStore, openStore } from '../../src/store/store.ts';
import type { ErrorCode } from '../../src/util/errors.ts';

const SOURCE = 'devnet:?blocks=40&seed=3';
const { genesis } = openEmbedded([SOURCE])!.source;
const MADE = ['utxo.delta.selfContained=true', 'proofs.csmt=true', 'utxo.index.stakeCredential=false', 'utxo.pruneDepth=11'];

const config = (...set: string[]): Config => loadConfig({ flags: { set: ['engine.memtableBytes=2000000', ...set] } }).config;
const coded = (code: ErrorCode) => (error: unknown) => (error as { code?: string }).code === code;

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'unspent-settings-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function using<T>(options: OpenOptions, body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await openStore(options);
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** A store of the devnet's blocks. */
async function made(name: string, ...set: string[]): Promise<string> {
  const data = join(folder, name);
  await using({ data, network: 'devnet', genesis: genesis!, config: config(...set) }, (store) => store.follow(SOURCE));
  return data;
}

const kept = (store: OpenStore): readonly string[] => store.fold.projections.map(({ name }) => name);

describe('a store that is opened again', () => {
  it('stays as it is where nothing is said, whether one looks or follows', async () => {
    const data = await made('stays', ...MADE);
    for (const create of [false, true]) {
      await using({ data, create, config: config() }, (store) => {
        const { delta, index, pruneDepth, rollbackWindow } = store.config.utxo;
        assert.deepEqual(
          [delta.selfContained, index.stakeCredential, index.policy, pruneDepth, rollbackWindow],
          [true, false, false, 11, 4320],
        );
        assert.equal(store.config.proofs.csmt, true);
        assert.ok(kept(store).includes('csmt') && !kept(store).includes('index.stake'));
        assert.equal(store.fold.options.selfContained, true);
        assert.deepEqual([store.reshaped.added, store.reshaped.removed, store.ignored], [[], [], []]);
      });
    }
  });

  it('of the chain alone needs no telling either', async () => {
    const data = await made('chain', 'utxo.enabled=false');
    for (const create of [false, true]) {
      await using({ data, create, config: config() }, (store) => {
        assert.equal(store.config.utxo.enabled, false);
        assert.deepEqual(kept(store), ['chain', 'transactions']);
        assert.equal(store.fold.head?.height, 39);
      });
    }
    await using({ data, create: false, config: config('utxo.enabled=true') }, ({ ignored }) => assert.deepEqual(ignored, ['utxo.enabled']));
    await assert.rejects(openStore({ data, config: config('utxo.enabled=true') }), coded('STORE_SHAPE'));
  });

  it('takes what is said, even if it is the default, and keeps the rest', async () => {
    const data = await made('said', ...MADE);
    const said = config('utxo.index.stakeCredential=true', 'proofs.csmt=false', 'utxo.rollbackWindow=9');
    await using({ data, create: false, config: said }, (store) => {
      assert.ok(kept(store).includes('csmt') && !kept(store).includes('index.stake'), 'who looks changes nothing');
      assert.deepEqual(store.ignored, ['utxo.index.stakeCredential', 'proofs.csmt', 'utxo.rollbackWindow']);
      assert.equal(store.horizon(), null);
    });
    await using({ data, config: said }, async (store) => {
      assert.deepEqual([store.reshaped.added, store.reshaped.removed, store.ignored], [['index.stake'], ['csmt'], []]);
      await store.fill();
    });
    await using({ data, create: false, config: config() }, (store) => {
      assert.ok(kept(store).includes('index.stake') && !kept(store).includes('csmt'));
      const { pruneDepth, rollbackWindow } = store.config.utxo;
      assert.deepEqual([pruneDepth, rollbackWindow], [9, 9], 'what was not said fits itself to what was');
      assert.equal(store.horizon()?.height, 30);
      assert.deepEqual(store.verify().faults, []);
    });
    await assert.rejects(openStore({ data, config: config('utxo.delta.selfContained=false') }), coded('STORE_SHAPE'));
    await assert.rejects(openStore({ data, config: config('utxo.store=mmr') }), coded('STORE_SHAPE'));
  });

  it('may be given other windows without another shape', async () => {
    const data = await made('windows');
    const said = config('utxo.pruneDepth=5', 'proofs.csmt=true');
    await using({ data, create: false, windows: true, config: said }, (store) => {
      assert.equal(store.horizon()?.height, 34);
      assert.deepEqual(store.ignored, ['proofs.csmt']);
    });
    await using({ data, create: false, config: config() }, (store) => assert.equal(store.horizon()?.height, 34));
  });
});

describe('the windows of a new store', () => {
  for (const [network, pruneDepth] of [
    ['preview', 432],
    ['preprod', 2160],
    ['devnet', 2160],
    ['bitcoin-regtest', 2160],
  ] as const) {
    it(`follow the network: ${network}`, async () => {
      const data = join(folder, `windows-${network}`);
      await using(
        { data, network, config: config(), ...(network === 'devnet' ? { genesis: genesis! } : {}) },
        ({ config: { utxo }, fold }) => {
          assert.deepEqual([utxo.pruneDepth, utxo.rollbackWindow], [pruneDepth, 2 * pruneDepth]);
          assert.deepEqual([fold.options.pruneDepth, fold.options.rollbackWindow], [pruneDepth, 2 * pruneDepth]);
        },
      );
      await using({ data, create: false, config: config() }, ({ config: { utxo } }) => assert.equal(utxo.pruneDepth, pruneDepth));
    });
  }
});

describe('a store without a block', () => {
  it('may become one of another network, or of another kind', async () => {
    const data = join(folder, 'empty');
    await using({ data, network: 'preprod', config: config() }, () => {});
    await assert.rejects(openStore({ data, create: false, network: 'preview', config: config() }), coded('STORE_NETWORK'));
    await using({ data, network: 'preview', config: config() }, ({ network }) => assert.equal(network.name, 'preview'));
    await using({ data, network: 'bitcoin-regtest', config: config('utxo.enabled=false') }, ({ network }) =>
      assert.equal(network.name, 'bitcoin-regtest'),
    );
    await using({ data, config: config('utxo.enabled=true') }, (store) => assert.ok(kept(store).includes('utxo')));
    await using({ data, network: 'devnet', genesis: genesis!, config: config() }, (store) => store.follow(SOURCE));
    await assert.rejects(openStore({ data, network: 'preview', config: config() }), coded('STORE_NETWORK'));
    await using({ data, create: false, config: config() }, ({ fold }) => assert.equal(fold.head?.height, 39));
  });

  it('leaves nothing behind when it is discarded', async () => {
    const parent = join(folder, 'deep');
    const data = join(parent, 'down', 'store');
    await (await openStore({ data, network: 'preview', config: config() })).discard();
    assert.ok(!existsSync(parent), 'no directory that it made');
    mkdirSync(parent);
    await (await openStore({ data: parent, network: 'preview', config: config() })).discard();
    assert.deepEqual(readdirSync(parent), [], 'nor anything in one that was there');
  });

  it('stays where somebody has put something beside it, where it was there before, and with a block', async () => {
    const data = join(folder, 'company');
    const store = await openStore({ data, network: 'devnet', genesis: genesis!, config: config() });
    writeFileSync(join(data, 'journal'), 'x');
    await store.discard();
    assert.ok(readdirSync(data).includes('unspent.json'));
    await (await openStore({ data, config: config() })).discard();
    assert.ok(readdirSync(data).includes('unspent.json'));
    const full = join(folder, 'full');
    const filled = await openStore({ data: full, network: 'devnet', genesis: genesis!, config: config() });
    await filled.follow(SOURCE);
    await filled.discard();
    assert.ok(readdirSync(full).includes('unspent.json'));
  });
});
