/**
 * A random walk of a store of the Bitcoin family: forward, back, prune, restart
 * and blocks that must be refused. After every step all kinds of question are
 * asked, of the present and of the past, and answered by plain maps. One seed
 * is one walk.
 */
import assert from 'node:assert/strict';
import { Random } from '../../src/chains/random.ts';
import { type BitcoinBlock, bitcoinNetwork, decodeTx, formatId } from '../../src/ledgers/bitcoin/index.ts';
import type { FoldOptions } from '../../src/state/fold.ts';
import { type PrunedHeights, pruneStep, readPruned } from '../../src/state/pruned.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { toHex } from '../../src/util/bytes.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from '../ledgers/bitcoin/forge.ts';
import { Account } from './bitcoin-account.ts';
import { Asked } from './bitcoin-asked.ts';
import { type PlainBlock, PlainChain } from './bitcoin-chain.ts';
import { assertIsAccount, type BitcoinRig, type OpenRig, VERIFY_ALL_BITCOIN } from './bitcoin-rig.ts';
import { assertRefused } from './harness.ts';

const STEPS = [
  ['forward', 30],
  ['back', 14],
  ['prune', 10],
  ['restart', 4],
  ['repeat', 3],
  ['stranger', 3],
  ['unlinked', 3],
  ['missingInput', 5],
  ['doubleSpend', 5],
  ['duplicate', 5],
  ['compare', 3],
  ['verify', 1],
] as const;

export type BitcoinStep = (typeof STEPS)[number][0];
export const BITCOIN_STEPS = STEPS.map(([kind]) => kind);

const paid = [{ value: 7n, script: OP_TRUE }];

/** Ahead of the horizon there must be room to walk; behind it, something to forget. */
function randomOptions(random: Random): Partial<FoldOptions> {
  const pruneDepth = 4 + random.int(15);
  return { pruneDepth, rollbackWindow: pruneDepth + random.int(12), selfContained: random.chance(0.4) };
}

export class BitcoinWalk {
  readonly counts: Partial<Record<BitcoinStep, number>> = {};
  readonly asked: Asked;
  private readonly random: Random;
  private readonly rig: BitcoinRig;
  private readonly chain: PlainChain;
  /** Blocks of forks that were left. */
  private readonly left: PlainBlock[] = [];
  /** Height of the highest tip there ever was. */
  private highestTip = -1;

  private constructor(random: Random, rig: BitcoinRig) {
    this.random = random;
    this.rig = rig;
    this.chain = rig.chain;
    this.asked = new Asked(rig, random);
  }

  static async begin(seed: number, open: OpenRig): Promise<BitcoinWalk> {
    const random = new Random(seed);
    const network = bitcoinNetwork(random.chance(0.5) ? 'bitcoin-regtest' : 'litecoin-regtest');
    return new BitcoinWalk(random, await open(new PlainChain(seed, { network, txsMax: 3 }), randomOptions(random)));
  }

  async step(kind: BitcoinStep = this.random.weighted(STEPS)): Promise<void> {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    if (kind === 'restart') await this.rig.restart();
    else this[kind]();
    assert.equal(this.rig.fold.head?.height, this.chain.tip?.height);
    this.asked.everything(new Account(this.chain.blocks), this.left.at(-1));
  }

  async end(): Promise<void> {
    assertIsAccount(this.rig, 'at the end');
    await this.rig.close();
  }

  private get pruned(): PrunedHeights {
    return readPruned(this.rig.engine);
  }

  private forward(): void {
    const { random } = this;
    const groups = Array.from({ length: 1 + random.int(3) }, () => 1 + random.int(6));
    this.rig.forward(1 + random.int(random.chance(0.1) ? 20 : 5), groups);
    this.highestTip = Math.max(this.highestTip, this.chain.blocks.length - 1);
  }

  private back(): void {
    const { blocks } = this.chain;
    const depth = Math.min(this.random.int(this.random.chance(0.15) ? 60 : 8), blocks.length);
    const target = blocks.at(-1 - depth) ?? null;
    if (depth > 0 && this.isBelowHorizon(target)) {
      assertRefused(this.rig, () => this.rig.fold.rollback(target), 'HORIZON', target === null ? 'the origin' : `height ${target.height}`);
      return;
    }
    if (depth > 0) this.left.push(blocks[blocks.length - 1]);
    this.rig.back(depth);
  }

  /** As the design says it: windows in blocks, counted from the highest tip there was, and what was pruned is gone. */
  private isBelowHorizon(target: PlainBlock | null): boolean {
    const { selfContained, pruneDepth, rollbackWindow } = this.rig.options;
    const window = selfContained ? rollbackWindow : Math.min(pruneDepth, rollbackWindow);
    const { spent, deltas } = this.pruned;
    const forgotten = selfContained ? deltas : Math.max(spent, deltas);
    if (target === null) return this.highestTip >= window || forgotten >= 0;
    return target.height < this.highestTip - window || target.height < forgotten;
  }

  private prune(): void {
    const { engine, projections, options } = this.rig;
    const tip = this.chain.tip?.height ?? 0;
    const before = this.pruned;
    const { done } = pruneStep(engine, projections, tip, options, 1 + this.random.int(20));
    const now = this.pruned;
    const spentMost = Math.max(before.spent, tip - options.pruneDepth);
    const deltasMost = Math.max(before.deltas, Math.min(now.spent, tip - options.rollbackWindow));
    assert.ok(now.spent >= before.spent && now.spent <= spentMost, 'spent outputs leave with their block');
    assert.ok(now.deltas >= before.deltas && now.deltas <= deltasMost, 'deltas leave with their block');
    if (done && this.chain.blocks.length > 0) assert.deepEqual(now, { spent: Math.max(-1, spentMost), deltas: Math.max(-1, deltasMost) });
  }

  /** Blocks we have, offered again. */
  private repeat(): void {
    const { blocks } = this.chain;
    if (blocks.length === 0) return;
    const from = this.random.int(blocks.length);
    const again = blocks.slice(from, from + 5).map((block) => this.rig.decode(block));
    assert.equal(this.rig.fold.apply(again).blocks, 0);
  }

  /** A block of a fork that was left: neither a place to go back to nor one that follows. */
  private stranger(): void {
    const stranger = this.left.at(-1);
    const { tip } = this.chain;
    if (stranger === undefined || tip === undefined || toHex(stranger.prevHash ?? tip.hash) === toHex(tip.hash)) return;
    const name = formatId(stranger.hash);
    assertRefused(this.rig, () => this.rig.fold.rollback(stranger), 'POINT_UNKNOWN', name);
    const [ours, theirs] = [formatId(tip.hash), formatId(stranger.prevHash!)];
    assertRefused(this.rig, () => this.rig.fold.apply([this.rig.decode(stranger)]), 'BLOCK_UNLINKED', name, ours, theirs);
  }

  /** Follows our tip, but says another height; or follows nothing of ours. */
  private unlinked(): void {
    const { tip } = this.chain;
    if (tip === undefined) return;
    const height = tip.height + 2 + this.random.int(3);
    const raw = forgeBlock(tip.hash, [forgeCoinbase(height, paid)]);
    const block = this.rig.ledger.decode(raw, height);
    const names = [formatId(block.hash), formatId(tip.hash), `its height is ${height} after ${tip.height}`];
    assertRefused(this.rig, () => this.rig.fold.apply([block]), 'BLOCK_UNLINKED', ...names);
    const lost = new Uint8Array(32).fill(0xa5);
    const orphan = this.rig.ledger.decode(forgeBlock(lost, [forgeCoinbase(tip.height + 1, paid)]), tip.height + 1);
    assertRefused(this.rig, () => this.rig.fold.apply([orphan]), 'BLOCK_UNLINKED', formatId(orphan.hash), formatId(lost));
  }

  /** Spends what was spent long ago, what never was, what is too far down the list, or what comes later in the block. */
  private missingInput(): void {
    const { random } = this;
    const account = new Account(this.chain.blocks);
    const spent = [...account.spends.values()].map(({ output }) => output);
    const some = [...account.unspent.values()];
    const burnt = { txId: this.chain.tip?.txs[0].id ?? new Uint8Array(32).fill(1), index: 60_000 };
    const choices = [
      burnt,
      { txId: new Uint8Array(32).fill(0xee), index: random.int(3) },
      ...(spent.length > 0 ? [random.pick(spent)] : []),
    ];
    const gone = random.pick(choices);
    const bad = forgeTx({ inputs: [...(some.length > 0 ? [random.pick(some)] : []), gone], outputs: paid });
    this.refuse([bad], 'INPUT_MISSING', `${formatId(gone.txId)}#${gone.index}`);
    if (some.length === 0) return;
    const later = forgeTx({ inputs: [random.pick(some)], outputs: paid });
    const id = decodeTx(later).id;
    this.refuse([forgeTx({ inputs: [{ txId: id, index: 0 }], outputs: paid }), later], 'INPUT_MISSING', `${formatId(id)}#0`);
  }

  /** The same output twice: in one transaction, in two of a block, or in two blocks of one step. */
  private doubleSpend(): void {
    const some = [...this.chain.utxos.values()];
    if (some.length === 0) return;
    const coin = this.random.pick(some);
    const name = `${formatId(coin.txId)}#${coin.index}`;
    const spend = (value: bigint) => forgeTx({ inputs: [coin], outputs: [{ value, script: OP_TRUE }] });
    this.refuse([forgeTx({ inputs: [coin, coin], outputs: paid })], 'INPUT_MISSING', name);
    this.refuse([spend(1n), spend(2n)], 'INPUT_MISSING', name);
    const tip = this.chain.tip!;
    const first = this.next(tip, [spend(3n)]);
    const second = this.next(first, [spend(4n)]);
    // What comes before the bad one is taken; the walk goes on from where it was.
    assert.throws(() => this.rig.fold.apply([first, second]), { code: 'INPUT_MISSING', message: new RegExp(name) });
    assert.equal(this.rig.fold.head?.height, tip.height + 1);
    this.undoOne(tip);
  }

  /** A coinbase that is there already, in the store or in the step; only one that is all spent may come again (BIP30). */
  private duplicate(): void {
    const { tip } = this.chain;
    if (tip === undefined) return;
    const coinbase = forgeCoinbase(tip.height + 1, paid);
    const name = `${formatId(decodeTx(coinbase).id)}#0`;
    const first = this.rig.ledger.decode(forgeBlock(tip.hash, [coinbase]), tip.height + 1);
    const second = this.rig.ledger.decode(forgeBlock(first.hash, [coinbase]), tip.height + 2);
    const asGroup = this.random.chance(0.5);
    if (!asGroup) this.rig.fold.apply([first]);
    assert.throws(() => this.rig.fold.apply(asGroup ? [first, second] : [second]), {
      code: 'OUTPUT_DUPLICATE',
      message: new RegExp(`^${name} is created twice.*${formatId(second.hash)}`),
    });
    assert.equal(this.rig.fold.head?.height, tip.height + 1);
    this.undoOne(tip);
  }

  private compare(): void {
    assertIsAccount(this.rig);
  }

  private verify(): void {
    assert.deepEqual(verifyStore(this.rig.engine, this.rig.ledger, VERIFY_ALL_BITCOIN).faults, []);
  }

  private next(before: { readonly hash: Uint8Array; readonly height: number }, txs: readonly Uint8Array[]): BitcoinBlock {
    const height = before.height + 1;
    return this.rig.ledger.decode(forgeBlock(before.hash, [forgeCoinbase(height, paid), ...txs]), height);
  }

  /** A block with these transactions changes nothing, and it is said which one and of which block. */
  private refuse(txs: readonly Uint8Array[], code: 'INPUT_MISSING', name: string): void {
    const { tip } = this.chain;
    if (tip === undefined) return;
    const block = this.next(tip, txs);
    assertRefused(this.rig, () => this.rig.fold.apply([block]), code, name, formatId(block.hash));
  }

  private undoOne(tip: PlainBlock): void {
    this.highestTip = Math.max(this.highestTip, this.rig.fold.head!.height);
    assert.equal(this.rig.fold.rollback(tip), 1);
  }
}
