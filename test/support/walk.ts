/**
 * A random walk of a store: forward, back, prune, restart, queries, held at
 * every step against the producer's plain model. One seed is one walk.
 */
import assert from 'node:assert/strict';
import type { DevnetBlock } from '../../src/chains/cardano/devnet/index.ts';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { Random } from '../../src/chains/random.ts';
import { KEY_KINDS, type Point } from '../../src/ledgers/ledger.ts';
import type { Utxo } from '../../src/query/query.ts';
import { type PrunedHeights, pruneStep, readPruned } from '../../src/state/pruned.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { assertIsModel, Expected, keysOf } from './expected.ts';
import { assertCode, assertRefused, Devnet, devnetOptions, type Rig, type RigOptions, VERIFY_ALL } from './harness.ts';

const STEPS = [
  ['forward', 30],
  ['back', 14],
  ['prune', 8],
  ['restart', 4],
  ['repeat', 2],
  ['stranger', 2],
  ['outpoint', 15],
  ['address', 10],
  ['tx', 10],
  ['block', 3],
  ['compare', 2],
  ['verify', 1],
] as const;

export type StepKind = (typeof STEPS)[number][0];

/** Ahead of the horizon there must be room to walk; behind it, something to forget. */
function randomOptions(random: Random): RigOptions {
  const pruneDepth = 5 + random.int(30);
  return { pruneDepth, rollbackWindow: pruneDepth + random.int(20), selfContained: random.chance(0.4) };
}

export class Walk {
  readonly random: Random;
  readonly counts: Partial<Record<StepKind, number>> = {};
  private readonly rig: Rig;
  private readonly devnet: Devnet;
  /** Blocks of forks that were left. */
  private readonly left: DevnetBlock[] = [];
  /** Height of the highest tip there ever was. */
  private highestTip = -1;

  private constructor(random: Random, rig: Rig) {
    this.random = random;
    this.rig = rig;
    this.devnet = rig.devnet;
  }

  static async begin(seed: number, open: (devnet: Devnet, options: RigOptions) => Rig | Promise<Rig>): Promise<Walk> {
    const random = new Random(seed);
    const devnet = new Devnet(devnetOptions(seed, random.chance(0.5) ? 'ancient' : 'conway'), { dressed: true });
    return new Walk(random, await open(devnet, randomOptions(random)));
  }

  async step(kind: StepKind = this.random.weighted(STEPS)): Promise<StepKind> {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    if (kind === 'restart') await this.rig.restart();
    else this[kind]();
    assert.equal(this.rig.fold.head?.height, this.devnet.chain.tip?.height);
    return kind;
  }

  async end(): Promise<void> {
    assertIsModel(this.rig, 'at the end');
    await this.rig.close();
  }

  private get pruned(): PrunedHeights {
    return readPruned(this.rig.engine);
  }

  private forward(): void {
    const { random } = this;
    const groups = Array.from({ length: 1 + random.int(3) }, () => 1 + random.int(6));
    this.rig.forward(1 + random.int(random.chance(0.1) ? 25 : 6), groups);
    this.highestTip = Math.max(this.highestTip, this.devnet.chain.tip!.height);
  }

  private back(): void {
    const { chain } = this.devnet;
    const depth = Math.min(this.random.int(this.random.chance(0.15) ? 80 : 10), chain.blocks.length);
    const target = this.devnet.pointBelow(depth);
    if (depth > 0 && this.isBelowHorizon(target, depth)) {
      assertRefused(this.rig, () => this.rig.fold.rollback(target), 'HORIZON');
      return;
    }
    assert.equal(this.rig.fold.rollback(target), depth);
    if (depth > 0) this.left.push(chain.tip!);
    chain.rollback(depth);
  }

  /** As the design says it: windows in blocks, counted from the highest tip there was, and what was pruned is gone. */
  private isBelowHorizon(target: Point | null, depth: number): boolean {
    const { selfContained, pruneDepth, rollbackWindow } = this.rig.options;
    const window = selfContained ? rollbackWindow : Math.min(pruneDepth, rollbackWindow);
    const { spent, deltas } = this.pruned;
    const { blocks } = this.devnet.chain;
    const forgotten = selfContained ? deltas : Math.max(spent, deltas);
    if (target === null) return this.highestTip >= window || forgotten >= 0;
    const lowestUndone = blocks[blocks.length - depth];
    return target.height < this.highestTip - window || target.height < forgotten || lowestUndone.height <= deltas;
  }

  private prune(): void {
    const { engine, projections, options } = this.rig;
    const { pruneDepth, rollbackWindow } = options;
    const tip = this.devnet.chain.tip?.height ?? 0;
    const before = this.pruned;
    const { done } = pruneStep(engine, projections, tip, options, 1 + this.random.int(25));
    const now = this.pruned;
    const spentMost = Math.max(before.spent, tip - pruneDepth);
    const deltasMost = Math.max(before.deltas, Math.min(now.spent, tip - rollbackWindow));
    assert.ok(now.spent >= before.spent && now.spent <= spentMost, 'spent outputs leave with their block');
    assert.ok(now.deltas >= before.deltas && now.deltas <= deltasMost, 'deltas leave with their block');
    if (done && this.devnet.chain.blocks.length > 0)
      assert.deepEqual(now, { spent: spentMost < 0 ? -1 : spentMost, deltas: Math.max(-1, deltasMost) });
  }

  /** Blocks we have, offered again. */
  private repeat(): void {
    const { blocks } = this.devnet.chain;
    if (blocks.length === 0) return;
    const from = this.random.int(blocks.length);
    assert.equal(this.rig.fold.apply(this.devnet.blocks(from, from + 5)).blocks, 0);
  }

  /** A block of a fork that was left: neither a place to go back to nor one that follows. */
  private stranger(): void {
    const stranger = this.left.at(-1);
    if (stranger === undefined) return;
    assertCode(() => this.rig.fold.rollback(stranger), 'POINT_UNKNOWN');
    const { tip } = this.devnet.chain;
    if (tip === undefined || toHex(tip.hash) === toHex(stranger.prevHash ?? new Uint8Array())) return;
    assertCode(() => this.rig.fold.apply([this.devnet.ledger.decode(stranger.raw)]), 'BLOCK_UNLINKED');
  }

  private outpoint(): void {
    const utxo = this.anyOutput();
    const found = this.rig.read((query) => query.outpoint(utxo.txId, utxo.index));
    this.checkOutput(found, utxo);
    const nobody = this.rig.read((query) => query.outpoint(utxo.txId, utxo.index + 500));
    assert.equal(nobody, null);
  }

  private address(): void {
    const { random, devnet } = this;
    const kind = random.pick(KEY_KINDS);
    const key = keysOf(this.anyOutput())[kind];
    if (key === undefined) return;
    const expected = new Expected(devnet);
    const order = random.chance(0.5) ? 'asc' : 'desc';
    const limit = random.chance(0.5) ? 1 + random.int(10) : undefined;
    const unspent = devnet.chain.blocks.length === 0 ? [] : [...devnet.chain.utxos.values()];
    const wanted = unspent
      .filter((utxo) => toHex(keysOf(utxo)[kind] ?? new Uint8Array()) === toHex(key))
      .map((utxo) => ({ ...expected.where(utxo), name: utxo.key, index: utxo.index }))
      .sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex || a.index - b.index)
      .map(({ name }) => name);
    if (order === 'desc') wanted.reverse();
    const found = this.rig.read((query) => [...query.byKey(kind, key, { order, limit })]);
    assert.deepEqual(
      found.map(({ txId, index }) => `${toHex(txId)}#${index}`),
      wanted.slice(0, limit),
    );
  }

  private tx(): void {
    const { blocks } = this.devnet.chain;
    if (blocks.length === 0) return;
    const { txs, height } = this.random.pick(blocks);
    const lost = this.left.at(-1)?.txs[0];
    this.rig.read((query) => {
      if (lost !== undefined) assert.equal(query.tx(fromHex(lost.id)).row, null, 'a transaction of a fork that was left');
      if (txs.length === 0) return;
      const txIndex = this.random.int(txs.length);
      const { id, valid, creates } = txs[txIndex];
      const { row, outputs } = query.tx(fromHex(id));
      assert.deepEqual(row, { height, txIndex, valid });
      const known = creates.filter((utxo) => this.isKnown(utxo));
      assert.deepEqual(
        outputs.map(({ index }) => index),
        known.map(({ index }) => index),
      );
      known.forEach((utxo, i) => {
        this.checkOutput(outputs[i], utxo);
      });
    });
  }

  private block(): void {
    const { blocks } = this.devnet.chain;
    if (blocks.length === 0) return;
    const block = this.random.pick(blocks);
    this.rig.read((query) => {
      assert.equal(query.blockByHash(block.hash)?.slot, block.slot);
      const atSlot = blocks.findLast(({ slot }) => slot <= block.slot)!;
      assert.deepEqual(toHex(query.blockAtSlot(block.slot)!.hash), toHex(atSlot.hash));
      const atHeight = blocks.findLast(({ height }) => height === block.height)!;
      assert.deepEqual(toHex(query.blockAtHeight(block.height)!.hash), toHex(atHeight.hash));
    });
  }

  private compare(): void {
    assertIsModel(this.rig);
  }

  private verify(): void {
    const { faults } = verifyStore(this.rig.engine, this.devnet.ledger, VERIFY_ALL);
    assert.deepEqual(faults, []);
  }

  private anyOutput(): ModelUtxo {
    const { random } = this;
    const { blocks } = this.devnet.chain;
    const made = blocks.length === 0 ? [] : random.pick(blocks).txs.flatMap(({ creates }) => creates);
    return random.pick(made.length > 0 && random.chance(0.9) ? made : this.devnet.genesis);
  }

  /** The height of the block that ended it; undefined while it is unspent. */
  private endedAt({ key, lovelace }: ModelUtxo): number | undefined {
    const { chain } = this.devnet;
    if (chain.utxos.has(key)) return undefined;
    const era = lovelace === 0n ? 2 : 3;
    return chain.spentBy(key)?.height ?? chain.blocks.find((block) => block.era >= era)!.height;
  }

  private isKnown(utxo: ModelUtxo): boolean {
    return this.devnet.chain.blocks.length > 0 && (this.endedAt(utxo) ?? Number.POSITIVE_INFINITY) > this.pruned.spent;
  }

  private checkOutput(found: Utxo | null, utxo: ModelUtxo): void {
    if (!this.isKnown(utxo)) {
      assert.equal(found, null, `${utxo.key} is not known any more`);
      return;
    }
    assert.ok(found !== null, `${utxo.key} is known`);
    assert.equal(found.output.value, utxo.lovelace);
    assert.equal(toHex(found.output.raw), toHex(utxo.output));
    assert.equal(found.spent?.height, this.endedAt(utxo));
    const spender = this.devnet.chain.spentBy(utxo.key);
    assert.equal(toHex(found.spent?.txId ?? new Uint8Array()), spender?.txId ?? '');
    if (spender !== undefined) assert.equal(found.spent?.input, spender.inputIndex);
  }
}
