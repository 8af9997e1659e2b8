/**
 * A devnet with a clock: blocks come by themselves, forks when asked or at
 * random, and others put transactions into the next block. It can be served to
 * any number of clients, and keeps the model that says what they should see.
 *
 * Without an interval nothing happens by itself: tests mine when they want.
 */
import { type CardanoNetwork, networkFromGenesis } from '../../../ledgers/cardano/networks.ts';
import type { LedgerPots, StakeAccount } from '../../../ledgers/cardano/stake-accounts.ts';
import type { DescribedTx } from '../../../ledgers/cardano/transaction.ts';
import type { AcquireFailure, AcquireTarget } from '../../../sources/cardano/ouroboros/local-state-query.ts';
import type { WirePoint, WireTip } from '../../../sources/cardano/ouroboros/point.ts';
import { fromHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { assert, isUnspentError, UnspentError } from '../../../util/errors.ts';
import { Random } from '../../random.ts';
import type { ChainReader, LedgerView, RangeReader, ServedChain, ServedMempool, ServedUtxo, Verdict } from '../responder/chain.ts';
import { MemoryChain } from '../responder/memory-chain.ts';
import { accountsAfter, potsAfter } from './accounts.ts';
import type { CageModel } from './cage/model.ts';
import { ERA } from './features.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { Mempool } from './mempool.ts';
import type { ModelUtxo } from './model.ts';
import { encodeConwayParameters } from './parameters.ts';
import { type DevnetBlock, DevnetChain, type DevnetOptions } from './producer.ts';
import { readSubmitted, type SubmittedTx } from './submitted.ts';

const NAME = 'devnet';
const FORK_STREAM = 0xf04c;
const FUND_FEE = 200_000n;
const FUND_MIN = 1_000_000n;

export interface LiveOptions extends DevnetOptions {
  /** Milliseconds between blocks; 0: only when `mine` is called. */
  readonly intervalMs?: number;
  /** Forks by themselves: how many blocks apart on average, and how deep at most. */
  readonly forks?: { readonly everyBlocks: number; readonly depthMax: number };
  /** File to remember the chain in, so that it is there again after a restart. */
  readonly journal?: string;
}

/** What a turn of the chain did. */
export interface Turn {
  readonly undone: number;
  readonly to: WirePoint;
}

export class LiveDevnet implements ServedChain, ServedMempool {
  readonly network: CardanoNetwork;
  readonly genesis: { readonly byron: string; readonly shelley: string };
  private readonly model: DevnetChain;
  private readonly served = new MemoryChain<DevnetBlock>();
  private readonly waiting: Mempool;
  /** Transactions from outside, by the block that holds them, so that a rollback can give them back. */
  private readonly included = new Map<number, readonly SubmittedTx[]>();
  private readonly views = new Set<DevnetView>();
  private readonly random: Random;
  private readonly options: LiveOptions;
  private readonly journal: Journal | null;
  private timer: NodeJS.Timeout | null = null;
  private intervalMs: number;

  constructor(options: LiveOptions) {
    this.options = options;
    this.intervalMs = options.intervalMs ?? 0;
    this.model = new DevnetChain(options);
    this.genesis = { byron: this.model.genesisByron, shelley: this.model.genesisShelley };
    this.network = networkFromGenesis(NAME, this.genesis.byron, this.genesis.shelley);
    this.waiting = new Mempool({ utxo: (key) => this.model.utxos.get(key), owns: (addressHex) => this.model.owns(addressHex) });
    this.random = new Random(options.seed, FORK_STREAM);
    const { intervalMs: _, forks: __, journal, ...chain } = options;
    this.journal = journal === undefined ? null : new Journal(journal, JSON.stringify(chain));
    if (this.journal !== null) this.replay(this.journal.read());
    this.resume();
  }

  get mempool(): ServedMempool {
    return this;
  }

  get tip(): WireTip {
    return this.served.tip;
  }

  get blocks(): readonly DevnetBlock[] {
    return this.model.blocks;
  }

  get utxos(): ReadonlyMap<string, ModelUtxo> {
    return this.model.utxos;
  }

  /** The devnet's own account of its cages; null: it makes none. */
  get cages(): CageModel | null {
    return this.model.cages;
  }

  get isPaused(): boolean {
    return this.timer === null;
  }

  /** Readers, listeners and views held by others: all 0 when nobody is there. */
  get held(): { readonly readers: number; readonly listeners: number; readonly views: number } {
    return { readers: this.served.readerCount, listeners: this.served.listenerCount, views: this.views.size };
  }

  /** Of the devnet's own account of what is unspent. */
  digest(): string {
    return this.model.digest();
  }

  mine(blocks = 1): void {
    for (let i = 0; i < blocks; i++) this.grow();
    this.served.changed();
  }

  /** Drops the last blocks; the next ones differ from them. Transactions from outside wait again. */
  rollback(blocks: number): Turn {
    const turn = this.shrink(blocks);
    this.served.changed();
    return turn;
  }

  /** What a node's followers see: some blocks less and one more than that, at once. */
  fork(depth: number): Turn {
    const turn = this.shrink(depth);
    for (let i = 0; i <= depth; i++) this.grow();
    this.served.changed();
    return turn;
  }

  pause(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  resume(): void {
    if (this.timer === null && this.intervalMs > 0) this.timer = setInterval(() => this.tick(), this.intervalMs);
  }

  /** Another pace; 0: blocks only when told. */
  setInterval(intervalMs: number): void {
    this.pause();
    this.intervalMs = intervalMs;
    this.resume();
  }

  /** Pays from the richest output to the address, in the next block. Throws USAGE. */
  fund(address: Uint8Array, lovelace: bigint): Uint8Array {
    if (lovelace < FUND_MIN) throw new UnspentError('USAGE', `an output has ${FUND_MIN} lovelace at least, not ${lovelace}`);
    const faucet = this.faucet(lovelace + FUND_FEE + FUND_MIN);
    const rest = faucet.lovelace - lovelace - FUND_FEE;
    const w = new CborWriter().array(4).map(3);
    w.uint(0).array(1).array(2).bytes(fromHex(faucet.txId)).uint(faucet.index);
    w.uint(1).array(2).array(2).bytes(address).bigUint(lovelace).array(2).bytes(fromHex(faucet.addressHex)).bigUint(rest);
    const verdict = this.submit(w.uint(2).bigUint(FUND_FEE).map(0).bool(true).null().take());
    assert(verdict.accepted, 'the faucet makes good transactions');
    return verdict.id;
  }

  submit(bytes: Uint8Array): Verdict {
    let tx: SubmittedTx;
    try {
      tx = readSubmitted(bytes);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      return { accepted: false, reason: `not a Conway transaction: ${error.message}` };
    }
    const refused = this.waiting.add(tx, this.earliestSlot);
    if (refused !== null) return { accepted: false, reason: refused };
    this.served.changed();
    return { accepted: true, id: tx.described.id };
  }

  pending(): { readonly id: Uint8Array; readonly tx: Uint8Array }[] {
    return this.waiting.txs.map(({ described, tx }) => ({ id: described.id, tx }));
  }

  sizes(): { readonly capacityBytes: number; readonly sizeBytes: number; readonly txs: number } {
    return this.waiting.sizes;
  }

  reader(): ChainReader {
    return this.served.reader();
  }

  ranges(): RangeReader {
    return this.served.ranges();
  }

  onChange(listener: () => void): () => void {
    return this.served.onChange(listener);
  }

  view(target: AcquireTarget): LedgerView | AcquireFailure {
    const { length } = this.blocks;
    const immutable = Math.max(0, length - this.network.k);
    const place = target.at === 'point' ? this.served.placeOf(target.point) : target.at === 'volatileTip' ? length : immutable;
    if (place < 0) return 'pointNotOnChain';
    const txs = this.outsideTxs(place);
    const ledger = { accounts: () => accountsAfter(txs), pots: () => potsAfter(this.genesis, txs) };
    const view = new DevnetView(this.model, place, this.served.pointAt(place), ledger, () => this.views.delete(view));
    this.views.add(view);
    return view;
  }

  async close(): Promise<void> {
    this.pause();
  }

  /** Those in the first `blocks`, as far as they are about stake: the devnet's own are not. */
  private outsideTxs(blocks: number): readonly DescribedTx[] {
    const txs: DescribedTx[] = [];
    for (const [place, submitted] of this.included) {
      if (place > blocks) continue;
      for (const { described } of submitted) if (described.certificates.length > 0 || described.donation > 0n) txs.push(described);
    }
    return txs;
  }

  private tick(): void {
    const { forks } = this.options;
    const deepest = Math.min(forks?.depthMax ?? 0, this.blocks.length - 1);
    if (forks !== undefined && deepest > 0 && this.random.chance(1 / forks.everyBlocks)) this.fork(1 + this.random.int(deepest));
    else this.mine();
  }

  /** A node takes a transaction in if a block of the slot after its tip could have it. */
  private get earliestSlot(): number {
    return (this.model.tip?.slot ?? -1) + 1;
  }

  private grow(): void {
    // The block may come later than what waits for it is valid.
    if (this.waiting.txs.length > 0) this.waiting.restart(this.waiting.txs, this.model.nextSlot);
    const txs = this.waiting.forBlock();
    const deeds = txs.map(({ tx }): JournalEntry => ({ kind: 'submit', tx }));
    this.journal?.append([...deeds, { kind: 'mine', blocks: 1 }]);
    this.make(txs);
    if (this.waiting.txs.length > 0) this.waiting.restart(this.waiting.txs.slice(txs.length), this.earliestSlot);
  }

  private make(txs: readonly SubmittedTx[]): void {
    this.model.mine(txs);
    if (txs.length > 0) this.included.set(this.blocks.length, txs);
    this.served.append(this.model.tip!);
  }

  private shrink(blocks: number): Turn {
    const { length } = this.blocks;
    if (!Number.isInteger(blocks) || blocks < 1 || blocks > length) {
      throw new UnspentError('USAGE', `can roll back 1 to ${length} blocks, not ${blocks}`, { blocks, length });
    }
    this.journal?.append([{ kind: 'rollback', blocks }]);
    return this.drop(blocks);
  }

  private drop(blocks: number): Turn {
    const kept = this.blocks.length - blocks;
    for (const view of this.views) view.keep(kept);
    const back: SubmittedTx[] = [];
    for (let place = kept + 1; place <= this.blocks.length; place++) {
      back.push(...(this.included.get(place) ?? []));
      this.included.delete(place);
    }
    this.model.rollback(blocks);
    this.served.truncate(kept);
    this.waiting.restart([...back, ...this.waiting.txs], this.earliestSlot);
    return { undone: blocks, to: this.served.tip.point };
  }

  private replay(deeds: readonly JournalEntry[]): void {
    let txs: SubmittedTx[] = [];
    for (const deed of deeds) {
      if (deed.kind === 'submit') txs.push(readSubmitted(deed.tx));
      else if (deed.kind === 'rollback') this.drop(deed.blocks);
      else {
        for (let i = 0; i < deed.blocks; i++) this.make(i === 0 ? txs : []);
        txs = [];
      }
    }
    // What waited when the process ended is gone, as a node's mempool would be.
    this.waiting.restart([], this.earliestSlot);
  }

  /** The richest output of the devnet's own that nobody has spent yet, its own change in the mempool included. */
  private faucet(needed: bigint): { txId: string; index: number; lovelace: bigint; addressHex: string } {
    let best = { txId: '', index: 0, lovelace: 0n, addressHex: '' };
    const consider = (txId: string, index: number, coin: { lovelace: bigint; addressHex: string }): void => {
      if (coin.lovelace <= best.lovelace || this.waiting.find(`${txId}#${index}`) === undefined) return;
      best = { txId, index, lovelace: coin.lovelace, addressHex: coin.addressHex };
    };
    for (const { key, index, assets, foreign, lovelace, addressHex } of this.utxos.values()) {
      if (assets.size === 0 && foreign !== true) consider(key.slice(0, key.indexOf('#')), index, { lovelace, addressHex });
    }
    for (const { id, described } of this.waiting.txs) {
      const change = described.outputs.at(-1);
      if (change !== undefined && change.assets.length === 0) {
        const addressHex = Buffer.from(change.address).toString('hex');
        if (this.model.owns(addressHex)) consider(id, change.index, { lovelace: change.lovelace, addressHex });
      }
    }
    if (best.lovelace >= needed) return best;
    throw new UnspentError('USAGE', `the faucet has ${best.lovelace} lovelace in its largest output, less than ${needed}`);
  }
}

/** The ledger after so many blocks. Found out when asked; or in time before those blocks go. */
class DevnetView implements LedgerView {
  readonly point: WirePoint;
  readonly height: number | null;
  readonly era: number;
  readonly accounts: () => ReadonlyMap<string, StakeAccount>;
  readonly pots: () => LedgerPots;
  readonly release: () => void;
  private readonly chain: DevnetChain;
  private readonly place: number;
  private kept: ReadonlyMap<string, ServedUtxo> | null = null;

  constructor(
    chain: DevnetChain,
    place: number,
    point: WirePoint,
    { accounts, pots }: Required<Pick<LedgerView, 'accounts' | 'pots'>>,
    release: () => void,
  ) {
    this.accounts = accounts;
    this.pots = pots;
    this.chain = chain;
    this.place = place;
    this.point = point;
    this.height = place === 0 ? null : chain.blocks[place - 1].height;
    this.era = place === 0 ? chain.firstEra : chain.blocks[place - 1].era;
    this.release = release;
  }

  parameters(): Uint8Array | null {
    return this.era === ERA.conway ? encodeConwayParameters() : null;
  }

  utxos(): ReadonlyMap<string, ServedUtxo> {
    return this.kept ?? this.chain.utxosAt(this.place);
  }

  /** Only `blocks` of the chain will be left. */
  keep(blocks: number): void {
    if (blocks < this.place) this.kept ??= new Map(this.chain.utxosAt(this.place));
  }
}
