/**
 * The hash of the unspent set on random chains with forks, for both families:
 * after every block and every way back it is that of the producer's set hashed
 * from scratch; the same whatever the grouping; filled later like kept from the
 * start; and the one of every earlier block can still be had.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { MuHash } from '../../src/crypto/muhash.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { SetHash, SetSummary } from '../../src/ledgers/ledger.ts';
import { outpointKey } from '../../src/ledgers/outpoint.ts';
import { readSetHash } from '../../src/projections/set-hash/set-hash.ts';
import { Overlays } from '../../src/query/overlay.ts';
import type { Query } from '../../src/query/query.ts';
import { pastSetHash } from '../../src/query/set-hash.ts';
import { addedSince } from '../../src/query/since.ts';
import { StoreColumns } from '../../src/query/store-columns.ts';
import { Fills, writeFillStart } from '../../src/state/fill.ts';
import { Fold } from '../../src/state/fold.ts';
import { pruneStep, readPruned } from '../../src/state/pruned.ts';
import { concatBytes, equalBytes, toHex } from '../../src/util/bytes.ts';
import { finish } from '../../src/util/steps.ts';
import { ForgedChain, forgedRig, randomFrom } from '../support/forged-chain.ts';
import {
  assertCode,
  assertSameDump,
  Devnet,
  devnetOptions,
  dump,
  KEEP_ALL,
  memoryRig,
  type Rig,
  rocksRig,
  TEST_SEED,
} from '../support/harness.ts';
import { leaveOut } from '../support/keep.ts';

/** Of the producer's set, hashed from nothing, as docs/adr/0014 says it. */
function fromScratch({ chain, genesis }: Devnet): Uint8Array {
  const set = new MuHash();
  if (chain.blocks.length === 0) return set.toBytes();
  const granted = new Set(genesis.map(({ key }) => key));
  for (const { key, txId, index, slot, output } of chain.utxos.values()) {
    // What genesis granted came with the first block.
    const since = granted.has(key) ? chain.blocks[0].slot : slot;
    set.add(concatBytes(txId, little(index, 4), little(since, 8), output));
  }
  return set.toBytes();
}

function little(value: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256);
}

function assertIsModel(rig: Rig): string {
  const expected = fromScratch(rig.devnet);
  const row = readSetHash(rig.engine);
  assert.equal(toHex(row ?? new MuHash().toBytes()), toHex(expected));
  const hash = toHex(sha256(expected));
  assert.deepEqual(
    rig.read((query) => query.setHash(rig.devnet.ledger.setHash)),
    { hash },
  );
  return hash;
}

/** Forward and back at random; after each step `check`. */
function walk(rig: Rig, random: Random, steps: number, check: () => void): void {
  const { chain } = rig.devnet;
  for (let i = 0; i < steps; i++) {
    if (random.chance(0.3)) {
      const depth = Math.min(random.int(12), chain.blocks.length);
      rig.fold.rollback(rig.devnet.pointBelow(depth));
      chain.rollback(depth);
    } else rig.forward(1 + random.int(5), [1 + random.int(4), 1]);
    check();
  }
}

/** What was said of each block of our chain when it was the newest: by hash. */
type Said = Map<string, SetSummary | null>;

function assertPast(
  query: Query,
  hash: SetHash,
  points: readonly { readonly hash: Uint8Array; readonly height: number }[],
  said: Said,
): void {
  for (const { hash: id, height } of points) {
    assert.deepEqual(query.setHashAt(hash, { hash: id, height, slot: 0 }), said.get(toHex(id)), `at height ${height}`);
  }
  assert.deepEqual(query.setHashAt(hash, null), hash.summary(null), 'before the first block');
}

describe('the hash of the set, Cardano', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`is that of the producer's set after every block and every way back (${flavour})`, () => {
      const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED, flavour)));
      assertIsModel(rig);
      walk(rig, new Random(TEST_SEED), 40, () => assertIsModel(rig));
      rig.fold.rollback(null);
      assert.equal(readSetHash(rig.engine), undefined);
    });
  }

  it('does not depend on how blocks were grouped, nor on the engine', async () => {
    const devnet = new Devnet(devnetOptions(TEST_SEED + 1, 'ancient'));
    const blocks = devnet.mine(80);
    const rigs = [memoryRig(devnet), memoryRig(devnet), await rocksRig(devnet)];
    for (const [i, rig] of rigs.entries()) rig.apply(blocks, [[1], [80], [7, 1, 20]][i]);
    for (const rig of rigs) assertIsModel(rig);
    await rigs[2].close();
  });

  it('of one known output is this', () => {
    const { setHash } = new Devnet(devnetOptions(1, 'conway')).ledger;
    const set = setHash.from(null);
    const key = outpointKey(
      Uint8Array.from({ length: 32 }, (_, i) => i),
      0x2021,
    );
    const raw = Uint8Array.of(9, 0x82, 1, 2, 9);
    const member = { keyBytes: key, keyAt: 0, height: 7, slot: 0x1_0000_0005, flags: 0, raw, start: 1, end: 4 };
    set.add(member);
    const element = concatBytes(key.subarray(0, 32), Uint8Array.of(0x21, 0x20, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0x82, 1, 2));
    const plain = new MuHash();
    plain.add(element);
    assert.deepEqual(set.state(), plain.toBytes());
    assert.equal(setHash.summary(set.state()).hash, '737601bc3df3550f19d42d232e6f353d78971d56d494ae84c4ef06393bb5fcdc');
    set.remove(member);
    assert.deepEqual(setHash.summary(set.state()), setHash.summary(null));
  });

  it('filled later is what it would be had it been kept from the start', () => {
    const devnet = new Devnet(devnetOptions(TEST_SEED + 2, 'conway'));
    const blocks = devnet.mine(40);
    const straight = memoryRig(devnet);
    straight.apply(blocks, [9]);
    const late = memoryRig(devnet, { keeps: leaveOut(KEEP_ALL, 'setHash') });
    late.apply(blocks.slice(0, 15));
    assert.equal(
      late.read((query) => query.setHash(devnet.ledger.setHash)),
      null,
    );
    const batch = late.engine.batch();
    writeFillStart(batch, 'setHash');
    batch.commit();
    const fills = new Fills(late.engine, straight.projections, devnet.ledger);
    const fold = new Fold(late.engine, devnet.ledger, fills.projections, late.options);
    for (const block of blocks.slice(15)) {
      fills.step({ rows: 1, bytes: 1 << 20 });
      fold.apply([block]);
      const said = late.read((query) => query.setHashAt(devnet.ledger.setHash, blocks[10]));
      assert.equal(said === null, !fills.isDone, 'nothing is said before it is ready');
    }
    fold.rollback(blocks[20]);
    while (!fills.isDone) fills.step();
    fold.apply(blocks.slice(21));
    assertSameDump(dump(late.engine), dump(straight.engine), 'filled later');
  });
});

describe('the hash of the set at an earlier block', () => {
  for (const selfContained of [false, true]) {
    it(`is the one said then, through forks, Cardano (${selfContained ? 'self-contained' : 'compact'} undo)`, () => {
      const random = new Random(TEST_SEED + 3);
      const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED + 3, 'ancient')), { selfContained, pruneDepth: 15, rollbackWindow: 40 });
      const { chain, ledger } = rig.devnet;
      const said: Said = new Map();
      const say = (): void => void rig.read((query) => said.set(toHex(query.head!.hash), query.setHash(ledger.setHash)));
      for (let turn = 0; turn < 6; turn++) {
        for (let i = 0; i < 12; i++) {
          rig.forward(1);
          say();
        }
        const depth = random.int(10);
        rig.fold.rollback(rig.devnet.pointBelow(depth));
        chain.rollback(depth);
        rig.read((query) => assertPast(query, ledger.setHash, chain.blocks, said));
      }
      while (!pruneStep(rig.engine, rig.projections, rig.fold.head!.height, rig.options, 5).done);
      const { spent, deltas } = readPruned(rig.engine);
      const known = selfContained ? deltas : Math.max(spent, deltas);
      assert.ok(known > 0, 'something was pruned');
      rig.read((query) => {
        for (const block of chain.blocks) {
          const ask = (): SetSummary | null => query.setHashAt(ledger.setHash, block);
          if (block.height > known) assert.deepEqual(ask(), said.get(toHex(block.hash)));
          else if (block.height < known) assertCode(ask, 'PRUNED');
        }
        assertCode(() => query.setHashAt(ledger.setHash, { ...chain.blocks[0], hash: new Uint8Array(32) }), 'POINT_UNKNOWN');
      });
    });
  }

  it('is the one said then, through forks, Bitcoin', () => {
    const random = randomFrom(TEST_SEED);
    const chain = new ForgedChain(random);
    const rig = forgedRig(chain.ledger);
    const { setHash } = chain.ledger;
    const said: Said = new Map();
    const say = (): void => void rig.read((query) => said.set(toHex(query.head!.hash), query.setHash(setHash)));
    rig.apply(chain.blocks);
    say();
    for (let turn = 0; turn < 5; turn++) {
      for (const block of chain.mine(8)) {
        rig.apply([block]);
        say();
      }
      rig.read((query) => assertPast(query, setHash, chain.blocks, said));
      const height = chain.blocks.length - 1 - random(6);
      rig.fold.rollback(chain.blocks[height]);
      chain.fork(height);
      rig.read((query) => assertPast(query, setHash, chain.blocks, said));
    }
  });

  it('is worked out once for a block, and anew when the chain has moved', () => {
    const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED, 'conway')));
    const { setHash } = rig.devnet.ledger;
    rig.forward(20);
    const at = rig.devnet.chain.blocks[10];
    let worked = 0;
    const counting: SetHash = {
      summary: setHash.summary,
      from: (state) => {
        worked++;
        return setHash.from(state);
      },
    };
    const ask = () => rig.read((query) => query.setHashAt(counting, at));
    const first = ask();
    assert.deepEqual(ask(), first);
    assert.equal(worked, 1);
    rig.forward(3);
    assert.deepEqual(ask(), first);
    assert.equal(worked, 2);
    assert.ok(!equalBytes(at.hash, rig.fold.head!.hash));
  });

  it('of a block too long ago is refused: too much has changed since', () => {
    const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED, 'conway')));
    const { chain, ledger } = rig.devnet;
    rig.forward(20);
    const columns = rig.engine.columns.map(({ name }) => name);
    const kept = new StoreColumns(rig.engine, columns, ledger);
    const [head, row] = [rig.fold.head!, rig.fold.rowAt(chain.blocks[10].height)!];
    const overlay = new Overlays().at(row, head, kept);
    const ask = (most: number) => () => finish(pastSetHash(kept, ledger.setHash, row, head, overlay, most));
    const changes = overlay.coins.length + [...addedSince(kept, row, head)].length;
    assert.ok(overlay.coins.length > 0 && changes > overlay.coins.length);
    for (const most of [0, overlay.coins.length - 1, overlay.coins.length, changes - 1]) assertCode(ask(most), 'LIMIT');
    assert.equal(ask(changes)()?.hash.length, 64);
  });
});
