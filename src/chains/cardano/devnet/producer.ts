/**
 * A devnet: a chain of real blocks made from a seed, with a model beside it of
 * what those blocks add up to. `mine` makes the next block, `rollback` forgets
 * the last ones exactly, and mining on from there makes another fork. The same
 * calls on the same seed give the same bytes.
 */

import { blake2b256 } from '../../../crypto/hash.ts';
import { toHex, utf8 } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import { mix32, Random } from '../../random.ts';
import { AddressBook, type DevnetAddress, redeemAddress } from './addresses.ts';
import { type EncodedBlock, type Issuer, makeIssuer, type Place, type SubmittedParts, sealBlock } from './blocks.ts';
import { type Draft, encodeBody } from './body.ts';
import { draftByron, encodeByronTx, sealBoundary, sealByron } from './byron.ts';
import type { CageModel } from './cage/model.ts';
import { CageTraffic, type OpenBlock } from './cage/traffic.ts';
import { DEFAULT_FEATURES, ERA, type Features, type Shape, ShapeCount } from './features.ts';
import { byronFunded, type Genesis, START_MS, shelleyFunded } from './genesis.ts';
import { type Assets, keyOf, Model, type ModelUtxo, NO_ASSETS, type Spender } from './model.ts';
import type { DraftContext, DraftOutput } from './outputs.ts';
import { ScriptTraffic } from './script-traffic.ts';
import { SpendablePools } from './spendable-pools.ts';
import { effectOf, type SubmittedTx } from './submitted.ts';
import { Drafter, type Plan, plansOf } from './transactions.ts';

const SLOTS_PER_BLOCK = 20;
/** Slots each later era lasts after Byron, unless `eras` says otherwise. */
const ERA_SLOTS = 600;
const ISSUERS = 5;

export interface DevnetOptions {
  readonly seed: number;
  /** Ten times the security parameter k. */
  readonly byronEpochSlots?: number;
  /** Mean; the shapes that need company add a few. */
  readonly txPerBlock?: number;
  /** Addresses of each kind. */
  readonly addresses?: number;
  readonly features?: Partial<Features>;
  /** Begin with so many Byron epochs, each opened by a boundary block. */
  readonly byron?: { readonly epochs: number; readonly slotsPerEpoch: number };
  /** Which era (2 Shelley to 7 Conway) from which height on, in order; Conway alone by default. */
  readonly eras?: readonly { readonly era: number; readonly atHeight: number }[];
  /** Conway blocks also have transactions of cages (`DEVNET_CAGE`); not for chains that begin with Byron. */
  readonly cages?: boolean;
  /** Conway blocks also have transactions that run scripts (`script-traffic.ts`). */
  readonly scripts?: boolean;
}

interface DevnetTx {
  readonly id: string;
  readonly valid: boolean;
  /** What the chain keeps: the fee, or the collateral that did not come back. */
  readonly fee: bigint;
  readonly mint: Assets;
  readonly spends: readonly ModelUtxo[];
  readonly creates: readonly ModelUtxo[];
}

export interface DevnetBlock extends EncodedBlock, Place {
  /** A Byron epoch boundary block: it has its predecessor's height. */
  readonly boundary: boolean;
  readonly txs: readonly DevnetTx[];
}

/** A block being filled. */
interface Page {
  readonly place: Place;
  readonly bodies: Uint8Array[];
  readonly invalid: number[];
  readonly txs: DevnetTx[];
  readonly attached: Map<number, SubmittedParts>;
}

export class DevnetChain {
  readonly genesisByron: string;
  readonly genesisShelley: string;
  readonly byronEpochSlots: number;
  readonly blocks: DevnetBlock[] = [];
  private readonly options: DevnetOptions;
  private readonly shop: DraftContext;
  private readonly book: AddressBook;
  private readonly redeemKeys: readonly DevnetAddress[];
  private readonly purse = new SpendablePools();
  private readonly model = new Model(this.purse);
  private readonly drafter: Drafter;
  private readonly issuers: readonly Issuer[];
  private readonly marks: { readonly utxos: number; readonly cages: number }[] = [];
  private readonly cageTraffic: CageTraffic | null;
  private readonly scriptTraffic: ScriptTraffic | null;
  private forks = 0;
  /** Of the next block, once somebody has asked for its slot. */
  private nextBlock: Place | null = null;

  constructor(options: DevnetOptions) {
    this.options = options;
    this.byronEpochSlots = options.byron?.slotsPerEpoch ?? options.byronEpochSlots ?? 21_600;
    assert(this.byronEpochSlots > 0 && this.byronEpochSlots % 10 === 0, 'a Byron epoch is 10 k slots');
    const random = new Random(options.seed);
    this.shop = { random, features: { ...DEFAULT_FEATURES, ...options.features }, shapes: new ShapeCount() };
    this.book = new AddressBook(random, options.addresses ?? 10);
    this.redeemKeys = options.byron === undefined ? [] : Array.from({ length: 3 }, () => redeemAddress(random.bytes(32)));
    this.issuers = Array.from({ length: ISSUERS }, () => makeIssuer(random));
    this.drafter = new Drafter(this.shop, this.book, this.purse);
    assert(options.cages !== true || options.byron === undefined, 'cages know the time of slots of one length alone');
    this.cageTraffic = options.cages === true ? new CageTraffic(options.seed, START_MS) : null;
    this.scriptTraffic = options.scripts === true ? new ScriptTraffic(options.seed) : null;
    const genesis = this.found(random);
    this.genesisByron = genesis.byron;
    this.genesisShelley = genesis.shelley;
    for (const utxo of genesis.utxos) this.model.create(utxo);
  }

  /** Every unspent output, by `<txid hex>#<index>`. */
  get utxos(): ReadonlyMap<string, ModelUtxo> {
    return this.model.utxos;
  }

  get count(): number {
    return this.model.count;
  }

  /** Lovelace of all unspent outputs. */
  get value(): bigint {
    return this.model.value;
  }

  /** The newest block; undefined before the first. */
  get tip(): DevnetBlock | undefined {
    return this.blocks.at(-1);
  }

  /** The slot that the next block will have, if no rollback comes before it. */
  get nextSlot(): number {
    this.nextBlock ??= this.nextPlace();
    return this.nextBlock.slot;
  }

  /** Of the ledger before the first block. */
  get firstEra(): number {
    return this.options.byron === undefined ? this.eraAt(0, 0) : ERA.byronBoundary;
  }

  /** How often each shape was made. */
  get shapes(): Readonly<Record<Shape, number>> {
    return this.shop.shapes.counts;
  }

  /** What cages there are, with requests and facts; null: it makes none. */
  get cages(): CageModel | null {
    return this.cageTraffic?.model ?? null;
  }

  /** How often each thing happened to cages, forks that were dropped included. */
  get cageCounts(): ReadonlyMap<string, number> {
    return this.cageTraffic?.counts ?? new Map();
  }

  /** How often scripts were run to each end, forks that were dropped included. */
  get scriptCounts(): ReadonlyMap<string, number> {
    return this.scriptTraffic?.counts ?? new Map();
  }

  digest(): string {
    return this.model.digest();
  }

  spentBy(key: string): Spender | undefined {
    return this.model.spentBy(key);
  }

  /** Whether an address is one of the devnet's own people. */
  owns(addressHex: string): boolean {
    return this.book.has(addressHex);
  }

  /** What was unspent when the chain had so many blocks. */
  utxosAt(blocks: number): ReadonlyMap<string, ModelUtxo> {
    assert(blocks >= 0 && blocks <= this.blocks.length, `0 to ${this.blocks.length} blocks, not ${blocks}`);
    return blocks === this.blocks.length ? this.model.utxos : this.model.at(this.marks[blocks].utxos);
  }

  /** Makes the next block and gives its wrapped bytes. Transactions from outside go first; their inputs must be unspent. */
  mine(submitted: readonly SubmittedTx[] = []): Uint8Array {
    const place = this.nextBlock ?? this.nextPlace();
    this.nextBlock = null;
    this.marks.push({ utxos: this.model.mark(), cages: this.cages?.mark() ?? 0 });
    this.crossBoundary(place.era);
    const page: Page = { place, bodies: [], invalid: [], txs: [], attached: new Map() };
    for (const tx of submitted) this.includeSubmitted(page, tx);
    const sealed = place.era <= ERA.byron ? this.mineByron(page) : this.mineShelley(page);
    this.blocks.push({ ...sealed, ...place, boundary: place.era === ERA.byronBoundary, txs: page.txs });
    return sealed.raw;
  }

  /** Forgets the last `n` blocks; what is mined next differs from them. */
  rollback(n: number): void {
    assert(Number.isInteger(n) && n >= 0 && n <= this.blocks.length, `can roll back 0 to ${this.blocks.length} blocks, not ${n}`);
    if (n === 0) return;
    const kept = this.blocks.length - n;
    this.model.revert(this.marks[kept].utxos);
    this.cageTraffic?.revert(this.marks[kept].cages);
    this.marks.length = kept;
    this.blocks.length = kept;
    this.nextBlock = null;
    this.forks++;
  }

  /** Rolls back `depth` blocks and mines one more than that: the longer chain wins. */
  fork(depth: number): Uint8Array[] {
    this.rollback(depth);
    return Array.from({ length: depth + 1 }, () => this.mine());
  }

  private found(random: Random): Genesis {
    const k = this.byronEpochSlots / 10;
    return this.options.byron === undefined ? shelleyFunded(this.book, k) : byronFunded(random, this.book, k);
  }

  private nextPlace(): Place {
    const { byron, seed } = this.options;
    const before = this.tip;
    const height = before === undefined ? 0 : before.height + 1;
    const prevHash = before?.hash ?? null;
    if (byron === undefined) return { era: this.eraAt(height, 0), height, slot: slotOf(seed, this.forks, height), prevHash };

    const genesisHash = () => blake2b256(utf8(this.genesisByron));
    if (before === undefined) return { era: ERA.byronBoundary, height: 0, slot: 0, prevHash: genesisHash() };
    const slot = before.slot + this.gap(before);
    const epoch = Math.floor(slot / byron.slotsPerEpoch);
    if (epoch >= byron.epochs) {
      const shelleySlot = Math.max(slot, byron.epochs * byron.slotsPerEpoch);
      return { era: this.eraAt(height, shelleySlot - byron.epochs * byron.slotsPerEpoch), height, slot: shelleySlot, prevHash };
    }
    if (epoch > Math.floor(before.slot / byron.slotsPerEpoch)) {
      return { era: ERA.byronBoundary, height: before.height, slot: epoch * byron.slotsPerEpoch, prevHash };
    }
    return { era: ERA.byron, height, slot, prevHash };
  }

  /** Slots to the next block. A boundary block and the first regular one may share theirs. */
  private gap(before: DevnetBlock): number {
    const { random } = this.shop;
    if (before.era > ERA.byron) return 1 + random.int(2 * SLOTS_PER_BLOCK - 1);
    const most = Math.max(1, Math.floor(this.byronEpochSlots / 8));
    return before.boundary ? random.int(most) : 1 + random.int(most);
  }

  private eraAt(height: number, slotsAfterByron: number): number {
    const { eras, byron } = this.options;
    if (eras !== undefined) return (eras.findLast((step) => step.atHeight <= height) ?? eras[0]).era;
    if (byron === undefined) return ERA.conway;
    return Math.min(ERA.conway, ERA.shelley + Math.floor(slotsAfterByron / ERA_SLOTS));
  }

  /** What the ledger deletes between two blocks, before the second one's transactions. */
  private crossBoundary(era: number): void {
    const before = this.tip?.era ?? ERA.byronBoundary;
    if (before < ERA.shelley && era >= ERA.shelley) this.model.drop((utxo) => utxo.lovelace === 0n);
    if (before < ERA.allegra && era >= ERA.allegra) this.model.drop((utxo) => utxo.redeem);
  }

  private mineByron(page: Page): EncodedBlock {
    const { random } = this.shop;
    const { era, height, slot, prevHash } = page.place;
    assert(prevHash !== null, 'a Byron chain begins at its genesis hash');
    const epoch = Math.floor(slot / this.byronEpochSlots);
    const byronPlace = { epoch, slotInEpoch: slot % this.byronEpochSlots, height, prevHash };
    if (era === ERA.byronBoundary) return sealBoundary(random, byronPlace);
    for (let n = this.txCount(); n > 0; n--) {
      const draft = draftByron(random, this.book, this.purse, this.redeemKeys);
      if (draft !== null) this.include(page, draft, encodeByronTx(draft));
    }
    return sealByron(random, byronPlace, page.bodies);
  }

  private mineShelley(page: Page): EncodedBlock {
    const { random, features, shapes } = this.shop;
    const plans = plansOf(features, page.place.era);
    for (let n = this.txCount(); n > 0; n--) this.follow(page, random.weighted(plans));
    if (page.place.era >= ERA.conway) this.fillTraffic(page);
    if (page.txs.length === 0) shapes.saw('emptyBlock');
    return sealBlock(this.shop, page.place, random.pick(this.issuers), page);
  }

  private fillTraffic(page: Page): void {
    const { era, slot } = page.place;
    const block: OpenBlock = {
      slot,
      pools: this.purse,
      utxo: (ref) => this.model.utxos.get(ref),
      put: (draft) => this.include(page, draft, encodeBody(this.shop, era, slot, draft)),
    };
    this.cageTraffic?.fill(block);
    this.scriptTraffic?.fill(block);
  }

  private txCount(): number {
    return this.shop.random.int(Math.round(2 * (this.options.txPerBlock ?? 2)) + 1);
  }

  private follow(page: Page, plan: Plan): void {
    const { drafter } = this;
    const { era } = page.place;
    if (plan === 'chain') this.chain(page);
    else if (plan === 'returnSpent') this.spendReturn(page);
    else if (plan === 'invalid' || plan === 'invalidWithReturn') this.add(page, plan, drafter.invalid(era, plan === 'invalidWithReturn'));
    else if (plan === 'allToFee') this.add(page, plan, drafter.allToFee());
    else this.add(page, plan, drafter[plan](era));
  }

  /** Each transaction spends the richest output of the one before it. */
  private chain(page: Page): void {
    let made = this.add(page, 'pay', this.drafter.pay(page.place.era));
    for (let depth = 2 + this.shop.random.int(3); depth > 0 && made.length > 0; depth--) {
      const richest = made.reduce((a, b) => (b.lovelace > a.lovelace ? b : a));
      made = this.add(page, 'chain', this.drafter.pay(page.place.era, [richest]));
    }
  }

  private spendReturn(page: Page): void {
    const { era } = page.place;
    const made = this.add(page, 'invalidWithReturn', this.drafter.invalid(era, true));
    if (made.length > 0) this.add(page, 'returnSpent', this.drafter.pay(era, made));
  }

  private add(page: Page, shape: Plan, draft: Draft | null): readonly ModelUtxo[] {
    if (draft === null) return [];
    const { era, slot } = page.place;
    this.shop.shapes.saw(shape);
    const adorned = this.drafter.adorn(era, draft);
    return this.include(page, adorned, encodeBody(this.shop, era, slot, adorned));
  }

  /** Puts a transaction on the page and its effect into the model. */
  private include(page: Page, draft: Draft, body: Uint8Array): readonly ModelUtxo[] {
    const { height, slot } = page.place;
    const txIndex = page.bodies.length;
    const txId = blake2b256(body);
    const id = toHex(txId);
    const spends = draft.valid ? draft.inputs : draft.collateral!;
    spends.forEach((utxo, inputIndex) => {
      this.model.spend(utxo, { txId: id, inputIndex, txIndex, height, slot });
    });
    const make = ({ address, lovelace, assets, bytes, foreign }: DraftOutput, index: number): ModelUtxo => {
      const origin = { key: keyOf(id, index), txId, index, height, slot, txIndex };
      return {
        ...origin,
        lovelace,
        assets,
        addressHex: address.hex,
        output: bytes,
        redeem: address.kind === 'redeem',
        ...(foreign === true ? { foreign } : {}),
      };
    };
    const returned = draft.collateralReturn;
    const creates = draft.valid ? draft.outputs.map(make) : returned === undefined ? [] : [make(returned, draft.outputs.length)];
    for (const utxo of creates) this.model.create(utxo);
    page.bodies.push(body);
    if (draft.witnesses !== undefined) page.attached.set(txIndex, { witnesses: draft.witnesses, auxiliary: null });
    if (!draft.valid) page.invalid.push(txIndex);
    const kept = spends.reduce((sum, utxo) => sum + utxo.lovelace, 0n) - creates.reduce((sum, utxo) => sum + utxo.lovelace, 0n);
    const mint = draft.valid ? (draft.mint ?? NO_ASSETS) : NO_ASSETS;
    page.txs.push({ id, valid: draft.valid, fee: draft.valid ? draft.fee : kept, mint, spends, creates });
    return creates;
  }

  /** The one place where the model learns from bytes it did not write. */
  private includeSubmitted(page: Page, tx: SubmittedTx): void {
    assert(page.place.era === ERA.conway, 'transactions from outside are Conway ones');
    const { height, slot } = page.place;
    const txIndex = page.bodies.length;
    const { spends, creates: made } = effectOf(tx, this);
    const creates = made.map((output) => ({ ...output, height, slot, txIndex }));
    const spent = spends.map((key) => this.model.utxos.get(key)!);
    spent.forEach((utxo, inputIndex) => {
      this.model.spend(utxo, { txId: tx.id, inputIndex, txIndex, height, slot });
    });
    for (const utxo of creates) this.model.create(utxo);
    page.bodies.push(tx.body);
    page.attached.set(txIndex, tx);
    if (!tx.valid) page.invalid.push(txIndex);
    const kept = spent.reduce((sum, utxo) => sum + utxo.lovelace, 0n) - creates.reduce((sum, utxo) => sum + utxo.lovelace, 0n);
    page.txs.push({ id: tx.id, valid: tx.valid, fee: tx.valid ? tx.described.fee : kept, mint: tx.mint, spends: spent, creates });
  }
}

/**
 * The slot of a height on a given fork. In closed form, so that a source can
 * name the slot of a tip it has not made yet; apart by 1 to 39 slots, forks too.
 */
export function slotOf(seed: number, fork: number, height: number): number {
  return SLOTS_PER_BLOCK * height + (mix32(mix32(seed, fork), height) % SLOTS_PER_BLOCK);
}
