/**
 * A regtest chain of one's own in this process: real blocks with real proof of
 * work (regtest's), made from a seed, with people who pay each other from coins
 * that need no signature. Blocks come when asked or by the clock, the chain can
 * turn, and others may put transactions into the mempool. What the blocks add
 * up to is kept beside them.
 *
 * The same calls on the same seed and clock give the same bytes.
 */
import { type BitcoinBlock, decodeBlock } from '../../../ledgers/bitcoin/decode.ts';
import { genesisBlock } from '../../../ledgers/bitcoin/genesis.ts';
import { type BitcoinNetwork, bitcoinNetwork } from '../../../ledgers/bitcoin/networks.ts';
import { concatBytes, readU32, utf8 } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { REGTEST_UNDO_BLOCKS } from '../../../util/limits.ts';
import { mix32, Random } from '../../random.ts';
import type { ChainNews, ServedChain } from '../responder/chain.ts';
import { Branches, type ChainBlock } from './branches.ts';
import { type Coin, CoinSet, keyOf, OWNED, type Owned } from './coins.ts';
import { encodeBlock } from './encode.ts';
import { Journal } from './journal.ts';
import { Mempool, type PoolChain, type WaitingTx } from './mempool.ts';
import { medianTimeOf, subsidyAt } from './rules.ts';
import { ScriptBook } from './scripts.ts';
import { chooseTxs } from './template.ts';
import { Traffic } from './traffic.ts';

export { GUEST_SCRIPT, namedScript, p2wshScript } from './scripts.ts';

const NETWORK = 'bitcoin-regtest';
const TAG = utf8('/unspent/');
/** The first blocks are dated back so that the chain has a past: ten minutes each until this height. */
const DATED_BACK_BLOCKS = 120;
const DATED_BACK_SECONDS = 600;
/** Transactions that wait, at least, when a block is made; on average a few more. */
const TXS_MIN = 2;
const TXS_SPREAD = 7;
/** Of each that could be in a block of the winning branch, how many stay behind. */
const FORK_LEFT_OUT = 0.4;
/** In the time from block to block: this often something happens, and the last time it is the block. */
const BEATS = 4;
const FUND_MIN = 546n;
const NOTHING = new Uint8Array(0);

export interface RegtestOptions {
  readonly seed: number;
  /** File to remember the chain in, so that it is there again after a restart. */
  readonly journal?: string;
  /** Forks by themselves: how many blocks apart on average, and how deep at most. */
  readonly forks?: { readonly everyBlocks: number; readonly depthMax: number };
  /** Unix seconds; the machine's by default. */
  readonly clock?: () => number;
}

/** What a turn of the chain did. */
export interface RegtestTurn {
  readonly undone: number;
  readonly to: { readonly height: number; readonly hash: Uint8Array };
}

export class RegtestDevnet implements ServedChain {
  readonly network: BitcoinNetwork = bitcoinNetwork(NETWORK);
  private readonly options: RegtestOptions;
  private readonly clock: () => number;
  private readonly book: ScriptBook;
  private readonly coins: CoinSet;
  private readonly branches: Branches;
  private readonly pool: Mempool;
  private readonly people: Traffic;
  private readonly journal: Journal | null;
  private readonly listeners = new Set<(news: ChainNews) => void>();
  /** Begun anew at each tip, so that it needs no memory of its own. */
  private random: Random;
  private turns = 0;
  private timer: NodeJS.Timeout | null = null;
  private intervalMs = 0;
  private beats = 0;

  constructor(options: RegtestOptions) {
    this.options = options;
    this.clock = options.clock ?? (() => Math.floor(Date.now() / 1000));
    this.random = new Random(options.seed);
    this.book = new ScriptBook(options.seed);
    this.coins = new CoinSet(this.book);
    this.branches = new Branches((at, length) => this.journal!.bytesAt(at, length));
    const ground = this.ground();
    this.pool = new Mempool(ground, this.book);
    this.people = new Traffic(this.book, this.sight(ground));
    this.journal = options.journal === undefined ? null : new Journal(options.journal, JSON.stringify({ seed: options.seed }));
    this.branches.push(genesisBlock(this.network), NOTHING, null);
    if (this.journal !== null) this.replay(this.journal);
  }

  get height(): number {
    return this.branches.height;
  }

  get tip(): { readonly height: number; readonly hash: Uint8Array; readonly time: number } {
    return this.branches.tip;
  }

  /** Everything unspent, by id in the order of a block as hex, and index. */
  get utxos(): ReadonlyMap<string, Coin> {
    return this.coins.all;
  }

  /** Of its own account of what is unspent, as a store's `digest` says it. */
  digest(): string {
    return this.coins.digest();
  }

  get isPaused(): boolean {
    return this.timer === null;
  }

  hashAt(height: number): Uint8Array | null {
    return this.branches.at(height)?.hash ?? null;
  }

  heightOf(hash: Uint8Array): number | null {
    const block = this.branches.find(hash);
    return block !== undefined && this.branches.isBest(block) ? block.height : null;
  }

  block(hash: Uint8Array): Uint8Array | null {
    const block = this.branches.find(hash);
    return block === undefined ? null : this.branches.bytesOf(block);
  }

  mempool(): readonly Uint8Array[] {
    return this.pool.txs.map(({ id }) => id);
  }

  tx(id: Uint8Array): Uint8Array | null {
    return this.pool.get(keyOf(id))?.raw ?? null;
  }

  submit(raw: Uint8Array): Uint8Array {
    const { id } = this.pool.add(raw, OWNED.none);
    this.tell({ kind: 'tx', id });
    return id;
  }

  /** Pays to a script, in the next block; the transaction's id. Nobody here spends that output again. Throws USAGE. */
  fund(script: Uint8Array, sats: bigint): Uint8Array {
    if (sats < FUND_MIN) throw new UnspentError('USAGE', `an output has ${FUND_MIN} satoshi at least, not ${sats}`);
    const { id } = this.people.fund(script, sats);
    this.tell({ kind: 'tx', id });
    return id;
  }

  watch(listener: (news: ChainNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  mine(blocks = 1): void {
    for (let i = 0; i < blocks; i++) this.record(0, [this.grow(0)]);
    this.tell({ kind: 'tip' });
  }

  /** The last blocks are void and one more than that take their place, at once. What they held waits again. Throws USAGE. */
  fork(depth: number): RegtestTurn {
    const deepest = Math.min(this.height, REGTEST_UNDO_BLOCKS);
    if (!Number.isInteger(depth) || depth < 1 || depth > deepest) {
      throw new UnspentError('USAGE', `can take back 1 to ${deepest} blocks, not ${depth}`, { depth, deepest });
    }
    const before = this.pool.txs;
    const lost = Array.from({ length: depth }, () => this.detach()).reverse();
    const to = { height: this.tip.height, hash: this.tip.hash };
    this.pool.restart([...lost.flat(), ...before]);
    if (this.random.chance(0.5)) this.people.bump(this.random);
    this.record(
      depth,
      Array.from({ length: depth + 1 }, () => this.grow(FORK_LEFT_OUT)),
    );
    this.tell({ kind: 'tip' });
    const known = new Set(before.map(({ key }) => key));
    for (const { id, key } of this.pool.txs) if (!known.has(key)) this.tell({ kind: 'tx', id });
    return { undone: depth, to };
  }

  pause(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  resume(): void {
    if (this.timer === null && this.intervalMs > 0) this.timer = setInterval(() => this.beat(), this.intervalMs / BEATS);
  }

  /** Milliseconds between blocks; 0: only when told. */
  setInterval(intervalMs: number): void {
    this.pause();
    this.intervalMs = intervalMs;
    this.resume();
  }

  async close(): Promise<void> {
    this.pause();
    this.journal?.close();
  }

  private beat(): void {
    if (++this.beats % BEATS === 0) this.grownByItself();
    this.whisper();
    if (this.random.chance(0.3)) this.told([this.people.bump(this.random)]);
  }

  private grownByItself(): void {
    const { forks } = this.options;
    const deepest = Math.min(forks?.depthMax ?? 0, this.height - 1);
    if (forks !== undefined && deepest > 0 && this.random.chance(1 / forks.everyBlocks)) this.fork(1 + this.random.int(deepest));
    else this.mine();
  }

  /** Somebody pays, and everybody hears of it. */
  private whisper(): void {
    for (let i = 1 + this.random.int(2); i > 0; i--) this.told(this.people.act(this.random));
  }

  private told(txs: readonly (WaitingTx | null)[]): void {
    for (const tx of txs) if (tx !== null) this.tell({ kind: 'tx', id: tx.id });
  }

  private tell(news: ChainNews): void {
    for (const listener of [...this.listeners]) listener(news);
  }

  /** Makes a block of what waits, after seeing to it that something does. `leftOut`: the part of it that stays behind. */
  private grow(leftOut: number): ChainBlock {
    const { random } = this;
    const wanted = TXS_MIN + random.int(TXS_SPREAD);
    for (let i = 0; i < wanted && this.pool.size < wanted; i++) this.people.act(random);
    const { txs, fees } = chooseTxs(this.pool.txs, (tx) => leftOut > 0 && tx.owned === OWNED.all && random.chance(leftOut));
    const height = this.height + 1;
    const reward = { value: subsidyAt(height, this.network) + fees, script: this.book.own(random) };
    const extra = concatBytes(random.bytes(8), TAG);
    const raw = encodeBlock({ prevHash: this.tip.hash, height, time: this.nextTime(), reward, extra }, txs);
    const block = this.attach(raw, Uint8Array.of(OWNED.all, ...txs.map(({ owned }) => owned)));
    this.pool.settle(txs);
    return block;
  }

  private nextTime(): number {
    const height = this.height + 1;
    const back = DATED_BACK_SECONDS * Math.max(0, DATED_BACK_BLOCKS - height);
    return Math.max(this.medianTime(height - 1) + 1, this.clock() - back);
  }

  private medianTime(height: number): number {
    return medianTimeOf(height, (at) => this.branches.at(at)!.time);
  }

  private attach(raw: Uint8Array, owned: Uint8Array): ChainBlock {
    const undo = this.coins.apply(decodeBlock(raw, this.height + 1), owned);
    const block = this.branches.push(raw, owned, undo);
    this.reseed();
    return block;
  }

  /** Takes the newest block back and gives its transactions, the coinbase left out. */
  private detach(): { readonly raw: Uint8Array; readonly owned: Owned }[] {
    const block = this.branches.pop();
    assert(block.undo !== null, `block ${block.height} can be taken back`);
    this.coins.revert(block.undo);
    block.undo = null;
    this.turns++;
    this.reseed();
    const { txs }: BitcoinBlock = decodeBlock(this.branches.bytesOf(block), block.height);
    return txs.slice(1).map(({ raw, start, end }, i) => ({ raw: raw.subarray(start, end), owned: block.owned[i + 1] as Owned }));
  }

  private reseed(): void {
    this.random = new Random(this.options.seed, mix32(readU32(this.tip.hash, 0), this.turns));
  }

  /** Before anybody is told. */
  private record(undone: number, blocks: readonly ChainBlock[]): void {
    if (this.journal === null) return;
    const places = this.journal.append(
      undone,
      blocks.map((block) => ({ raw: this.branches.bytesOf(block), owned: block.owned })),
    );
    blocks.forEach((block, i) => {
      block.at = places[i];
    });
  }

  private replay(journal: Journal): void {
    for (const { undone, blocks } of journal.read()) {
      for (let i = 0; i < undone; i++) this.detach();
      for (const { raw, owned, at } of blocks) this.attach(raw.slice(), owned.slice()).at = at;
    }
  }

  private ground(): PoolChain {
    const chain = this;
    return {
      coinbaseMaturity: this.network.coinbaseMaturity,
      get nextHeight() {
        return chain.height + 1;
      },
      medianTime: (height) => this.medianTime(height),
      coin: (key) => this.coins.get(key),
    };
  }

  private sight(ground: PoolChain): ConstructorParameters<typeof Traffic>[1] {
    const { coins, pool } = this;
    return {
      coins,
      pool,
      coinbaseMaturity: ground.coinbaseMaturity,
      get nextHeight() {
        return ground.nextHeight;
      },
    };
  }
}
