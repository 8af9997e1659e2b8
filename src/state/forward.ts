/**
 * Builds the step forward: resolves every input of a run of blocks, first
 * against the outputs of the run itself, then with one read of the store, and
 * nets what was created and spent inside the run. It reads and never writes.
 */
import type { Reader } from '../engine/engine.ts';
import type { Block, Create, GenesisOutput, Ledger, OwnerKeyBatch, PreviousBlock, Spend, Transition, Tx } from '../ledgers/ledger.ts';
import { OutputKeys } from '../ledgers/ledger.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointTxId, TXID_BYTES, writeOutpoint } from '../ledgers/outpoint.ts';
import { chainKey } from '../projections/chain.ts';
import { Coin, GRANT_TX_INDEX, NO_INPUT, outputOffset, placesEnd, storedBytesMax, writeStored } from '../projections/coin.ts';
import { coinOfRow, type OwnerKeys, wholeLength, writeWhole } from '../projections/packed.ts';
import type { ForwardBlock, Step, StepTx } from '../projections/projection.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { Arena } from '../util/arena.ts';
import { UnspentError } from '../util/errors.ts';
import { CoinTable } from './coin-table.ts';
import type { DeltaTx } from './delta.ts';

const NONE: readonly never[] = Object.freeze([]);
/** Frozen, so that adding to one by mistake throws. */
const NO_COINS = Object.freeze([]) as unknown as Coin[];
const NO_TXS = Object.freeze([]) as unknown as DeltaTx[];
const ZERO_ID = new Uint8Array(TXID_BYTES);

/** A block of the step with what its delta needs. */
export class PlannedBlock implements ForwardBlock {
  readonly block: Block;
  readonly key: Uint8Array;
  readonly created: Coin[];
  spent: Coin[];
  readonly deltaTxs: DeltaTx[];
  missing = 0;

  /** `still`: the block neither creates nor spends anything, as most blocks of a quiet chain. Such blocks share empty lists. */
  constructor(block: Block, still: boolean) {
    this.block = block;
    this.key = chainKey(block.height, block.boundary);
    this.created = still ? NO_COINS : [];
    this.spent = still ? NO_COINS : [];
    this.deltaTxs = still ? NO_TXS : [];
  }

  get height(): number {
    return this.block.height;
  }

  get slot(): number {
    return this.block.slot;
  }

  get hash(): Uint8Array {
    return this.block.hash;
  }

  get txs(): readonly StepTx[] {
    return this.block.txs;
  }
}

export interface ForwardPlan {
  readonly step: Step<PlannedBlock>;
  /** How many of the blocks offered are in the step; the rest must wait for a step of their own. */
  readonly taken: number;
  /** Why the block after those cannot be applied. */
  readonly failure: UnspentError | null;
}

/** An output of a transaction that spends nothing. Only such a transaction can have the id of an earlier one (BIP30). */
interface Minted {
  readonly coin: Coin;
  readonly tx: Tx;
  /** Of its block in the run. */
  readonly number: number;
}

export interface ForwardOptions {
  /** False: no unspent set is kept, so nothing is resolved. */
  readonly utxo: boolean;
  /** True: the store began in the middle of the chain; unknown inputs are counted, not refused. */
  readonly partial: boolean;
  /** True: undo records carry what was spent. */
  readonly selfContained: boolean;
}

export class ForwardPlanner {
  private readonly ledger: Ledger;
  private readonly options: ForwardOptions;
  private readonly arena = new Arena();
  private readonly table = new CoinTable();
  private readonly keys = new OutputKeys();
  /** Null: the keys of each output are found by themselves. */
  private readonly ownerKeys: OwnerKeyBatch | null;
  private readonly unpacking: OwnerKeys;
  private wanted: Coin[] = [];
  private wantedKeys: Uint8Array[] = [];
  private wantedBy: number[] = [];
  private minted: Minted[] = [];

  constructor(ledger: Ledger, options: ForwardOptions) {
    this.ledger = ledger;
    this.options = options;
    this.ownerKeys = ledger.ownerKeys?.() ?? null;
    this.unpacking = this.ownerKeys ?? ledger;
  }

  /** The coins of the last plan live until the next one. */
  plan(before: PreviousBlock | undefined, blocks: readonly Block[], reader: Reader): ForwardPlan {
    this.reset();
    const planned: PlannedBlock[] = [];
    let last = before;
    for (const block of blocks) {
      const transition = this.options.utxo ? this.ledger.transition(last, block) : null;
      // A block that sweeps the store looks at all of it: it starts a step.
      if (transition?.drops && planned.length > 0) break;
      const entry = new PlannedBlock(block, transition === null && block.txs.length === 0);
      const failure = this.options.utxo ? this.addBlock(entry, transition, reader, planned.length) : this.addIds(entry);
      if (failure !== null) return this.cut(before, planned, failure, reader);
      planned.push(entry);
      last = block;
    }
    const firstMissing = this.resolve(planned, reader);
    const repeat = this.firstRepeat(reader);
    if (repeat !== undefined && repeat.number <= firstMissing) {
      const failure = this.early(repeat.coin, planned[repeat.number].block, repeat.tx);
      return this.cut(before, planned.slice(0, repeat.number), failure, reader);
    }
    if (firstMissing < planned.length && !this.options.partial) {
      return this.cut(before, planned.slice(0, firstMissing), this.missingInput(planned[firstMissing]), reader);
    }
    this.ownerKeys?.finish();
    return { step: net(planned, this.options.selfContained), taken: planned.length, failure: null };
  }

  /** The run fails at a block: plan again the ones before it, which are good. */
  private cut(before: PreviousBlock | undefined, good: readonly PlannedBlock[], failure: UnspentError, reader: Reader): ForwardPlan {
    const again = this.plan(
      before,
      good.map((entry) => entry.block),
      reader,
    );
    // Reading the store may show that an earlier block is bad too; then that one is reported.
    return { ...again, failure: again.failure ?? failure };
  }

  /** Lets go of the last plan: its coins may be collected. */
  forget(): void {
    this.table.reset();
    if (this.wanted.length > 0) [this.wanted, this.wantedKeys, this.wantedBy] = [[], [], []];
    if (this.minted.length > 0) this.minted = [];
  }

  private reset(): void {
    this.arena.reset();
    this.ownerKeys?.clear();
    this.forget();
  }

  private addIds(entry: PlannedBlock): null {
    for (const tx of entry.block.txs) entry.deltaTxs.push({ id: tx.id, valid: tx.valid, kind: 'tx', firstIndex: 0, count: 0 });
    return null;
  }

  private addBlock(entry: PlannedBlock, transition: Transition | null, reader: Reader, number: number): UnspentError | null {
    const { block } = entry;
    if (transition !== null) {
      if (transition.drops !== null) this.sweep(entry, transition.drops, reader);
      this.grant(entry, transition.grants);
    }
    for (let i = 0; i < block.txs.length; i++) {
      const tx = block.txs[i];
      const { spends } = tx;
      const failure = this.spend(entry, tx, spends, i, number) ?? this.create(entry, tx, spends.length === 0, i, number);
      if (failure !== null) return failure;
    }
    return null;
  }

  private spend(entry: PlannedBlock, tx: Tx, spends: readonly Spend[], txIndex: number, number: number): UnspentError | null {
    const { block } = entry;
    if (spends.length === 0) return null;
    const spender = { txId: tx.id, txIndex, slot: block.slot, height: block.height };
    for (let i = 0; i < spends.length; i++) {
      const { at, index } = spends[i];
      let coin = this.table.find(block.raw, at, index);
      if (coin === undefined) {
        coin = this.want(block.raw, at, index, number);
      } else if (coin.spender !== null) {
        return new UnspentError('INPUT_MISSING', `${this.outpointText(coin)} is spent twice, again ${this.where(block, tx.id)}`, {
          height: block.height,
        });
      }
      coin.spender = spender;
      coin.input = i;
      entry.spent.push(coin);
    }
    return null;
  }

  /** A coin that must come from the store. */
  private want(raw: Uint8Array, at: number, index: number, number: number): Coin {
    const keyAt = this.arena.take(OUTPOINT_BYTES);
    const { slab } = this.arena;
    writeOutpoint(slab, keyAt, raw, at, index);
    const coin = new Coin(slab, keyAt, slab, 0, 0, false);
    this.table.add(coin);
    this.wanted.push(coin);
    this.wantedKeys.push(slab.subarray(keyAt, keyAt + OUTPOINT_BYTES));
    this.wantedBy.push(number);
    return coin;
  }

  private create(entry: PlannedBlock, tx: Tx, spendsNothing: boolean, txIndex: number, number: number): UnspentError | null {
    const { block } = entry;
    const { creates } = tx;
    addRuns(entry.deltaTxs, tx, creates);
    for (let i = 0; i < creates.length; i++) {
      const create = creates[i];
      const known = this.table.find(tx.id, 0, create.index);
      if (known !== undefined) return this.early(known, block, tx);
      const coin = this.coin(block, block.raw, create, tx.id, txIndex);
      entry.created.push(coin);
      if (spendsNothing) this.minted.push({ coin, tx, number });
    }
    return null;
  }

  private grant(entry: PlannedBlock, grants: readonly GenesisOutput[]): void {
    for (let i = 0; i < grants.length; i++) {
      const { txId, create, raw } = grants[i];
      entry.deltaTxs.push({ id: txId, valid: true, kind: 'grant', firstIndex: create.index, count: 1 });
      entry.created.push(this.coin(entry.block, raw, create, txId, GRANT_TX_INDEX + i));
    }
  }

  private coin(block: Block, raw: Uint8Array, create: Create, txId: Uint8Array, txIndex: number): Coin {
    const keyAt = this.arena.take(OUTPOINT_BYTES + storedBytesMax(create.end - create.start));
    const { slab } = this.arena;
    writeOutpoint(slab, keyAt, txId, 0, create.index);
    const at = keyAt + OUTPOINT_BYTES;
    if (this.ownerKeys === null) this.ledger.findKeys(raw, create, this.keys);
    else this.keys.onlyOwner();
    const end = writeStored(slab, at, block, txIndex, raw, create, this.keys);
    this.ownerKeys?.ownerKey(raw, create.start, create.end, slab, placesEnd(slab, at));
    const coin = new Coin(slab, keyAt, slab, at, end, true);
    this.table.add(coin);
    return coin;
  }

  /** Unspent outputs that the ledger itself removes before this block. */
  private sweep(entry: PlannedBlock, drops: NonNullable<Transition['drops']>, reader: Reader): void {
    const spender = { txId: ZERO_ID, txIndex: 0, slot: entry.block.slot, height: entry.block.height };
    for (const [key, value] of reader.scan(UNSPENT)) {
      if (!drops(value, outputOffset(value, 0), value.length)) continue;
      const coin = coinOfRow(key, value, this.ledger);
      coin.spender = spender;
      coin.input = NO_INPUT;
      this.table.add(coin);
      entry.spent.push(coin);
    }
  }

  /** One read for all that the run itself did not create. Returns the number of the first block that lacks an input. */
  private resolve(planned: readonly PlannedBlock[], reader: Reader): number {
    if (this.wanted.length === 0) return planned.length;
    const values = reader.getMany(UNSPENT, this.wantedKeys);
    let firstMissing = planned.length;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === undefined) {
        const number = this.wantedBy[i];
        planned[number].missing++;
        firstMissing = Math.min(firstMissing, number);
        continue;
      }
      this.unpack(this.wanted[i], value);
    }
    if (firstMissing < planned.length && this.options.partial) {
      for (const entry of planned) if (entry.missing > 0) entry.spent = entry.spent.filter((coin) => coin.length > 0);
    }
    return firstMissing;
  }

  private unpack(coin: Coin, row: Uint8Array): void {
    const at = this.arena.take(wholeLength(row, 0, row.length));
    coin.bytes = this.arena.slab;
    coin.at = at;
    coin.end = writeWhole(row, 0, row.length, coin.bytes, at, this.unpacking);
  }

  /** The first output that the store has already as an unspent one. */
  private firstRepeat(reader: Reader): Minted | undefined {
    if (this.minted.length === 0) return undefined;
    const keys = this.minted.map(({ coin: { keyBytes, keyAt } }) => keyBytes.subarray(keyAt, keyAt + OUTPOINT_BYTES));
    const found = reader.getMany(UNSPENT, keys);
    return this.minted.find((_, i) => found[i] !== undefined);
  }

  private missingInput(entry: PlannedBlock): UnspentError {
    const coin = entry.spent.find((spent) => !spent.born && spent.length === 0 && this.wanted.includes(spent));
    const { block } = entry;
    const { formatId } = this.ledger;
    const spender = coin?.spender?.txId ?? ZERO_ID;
    const what = coin === undefined ? 'an output' : this.outpointText(coin);
    return new UnspentError('INPUT_MISSING', `${what} is not unspent, but is spent ${this.where(block, spender)}`, {
      height: block.height,
      slot: block.slot,
      hash: formatId(block.hash),
      tx: formatId(spender),
    });
  }

  /** An output comes into being that this step already knows: it exists twice, or was spent before there was any. */
  private early(known: Coin, block: Block, tx: Tx): UnspentError {
    const what = this.outpointText(known);
    if (known.born) return new UnspentError('OUTPUT_DUPLICATE', `${what} is created twice, again ${this.where(block, tx.id)}`);
    const spender = this.ledger.formatId(known.spender?.txId ?? ZERO_ID);
    return new UnspentError('INPUT_MISSING', `${what} is spent by ${spender} before it is created ${this.where(block, tx.id)}`);
  }

  private outpointText({ keyBytes, keyAt }: Coin): string {
    return `${this.ledger.formatId(outpointTxId(keyBytes, keyAt))}#${outpointIndex(keyBytes, keyAt)}`;
  }

  private where({ height, slot, hash }: Block, txId: Uint8Array): string {
    const { formatId } = this.ledger;
    return `by transaction ${formatId(txId)} of block ${height} (slot ${slot}, ${formatId(hash)})`;
  }
}

/** What the delta says of a transaction's outputs. */
function addRuns(into: DeltaTx[], { id, valid }: Tx, creates: readonly Create[]): void {
  let from = 0;
  for (let i = 1; i < creates.length; i++) {
    if (creates[i].index === creates[i - 1].index + 1) continue;
    into.push({ id, valid, kind: from === 0 ? 'tx' : 'more', firstIndex: creates[from].index, count: i - from });
    from = i;
  }
  const firstIndex = creates.length > 0 ? creates[from].index : 0;
  into.push({ id, valid, kind: from === 0 ? 'tx' : 'more', firstIndex, count: creates.length - from });
}

function net(planned: readonly PlannedBlock[], carriesSpent: boolean): Step<PlannedBlock> {
  const added: Coin[] = [];
  const removed: Coin[] = [];
  for (const entry of planned) {
    for (const coin of entry.created) if (coin.spender === null) added.push(coin);
    for (const coin of entry.spent) if (!coin.born) removed.push(coin);
  }
  return { blocks: planned, added: added.length > 0 ? added : NONE, removed, carriesSpent };
}
