/**
 * Builds the step forward: resolves every input of a run of blocks, first
 * against the outputs of the run itself, then with one read of the store, and
 * nets what was created and spent inside the run. It reads and never writes.
 */
import type { Reader } from '../engine/engine.ts';
import type { Before, Block, Create, Grant, Ledger, Transition, Tx } from '../ledgers/ledger.ts';
import { OutputKeys } from '../ledgers/ledger.ts';
import { chainKey } from '../projections/chain.ts';
import {
  AT,
  Coin,
  KEY_MASK_SHIFT,
  KEYS_BYTES_MAX,
  LEDGER_FLAGS_MASK,
  NO_INPUT,
  OUTPOINT_BYTES,
  outputOffset,
  TXID_BYTES,
  VALUE_HEADER_BYTES,
  writeKeys,
} from '../projections/coin.ts';
import type { ForwardBlock, Step, StepTx } from '../projections/projection.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { Arena } from '../util/arena.ts';
import { copyBytes, toHex, writeU16, writeU32, writeU64 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { CoinTable } from './coin-table.ts';
import type { DeltaTx } from './delta.ts';

/** Tx index of the first grant of a block: behind every transaction a block can hold, so that index keys never collide. */
export const GRANT_TX_INDEX = 0x8000_0000;

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

  /** `still`: nothing will be added. Most blocks of a quiet chain are, and share their empty lists. */
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

export interface Planned {
  readonly step: Step<PlannedBlock>;
  /** How many of the blocks offered are in the step; the rest must wait for a step of their own. */
  readonly taken: number;
  /** Why the block after those cannot be applied. */
  readonly failure: UnspentError | null;
}

export interface ForwardOptions {
  /** False: no unspent set is kept, so nothing is resolved. */
  readonly utxo: boolean;
  /** True: the store began in the middle of the chain; unknown inputs are counted, not refused. */
  readonly partial: boolean;
}

export class ForwardPlanner {
  private readonly ledger: Ledger;
  private readonly options: ForwardOptions;
  private readonly arena = new Arena();
  private readonly table = new CoinTable();
  private readonly keys = new OutputKeys();
  private wanted: Coin[] = [];
  private wantedKeys: Uint8Array[] = [];
  private wantedBy: number[] = [];

  constructor(ledger: Ledger, options: ForwardOptions) {
    this.ledger = ledger;
    this.options = options;
  }

  /** The coins of the last plan live until the next one. */
  plan(before: Before | undefined, blocks: readonly Block[], reader: Reader): Planned {
    this.reset(blocks);
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
    if (firstMissing < planned.length && !this.options.partial) {
      return this.cut(before, planned.slice(0, firstMissing), missingInput(planned[firstMissing], this.wanted), reader);
    }
    return { step: net(planned), taken: planned.length, failure: null };
  }

  /** The run fails at a block: plan again the ones before it, which are good. */
  private cut(before: Before | undefined, good: readonly PlannedBlock[], failure: UnspentError, reader: Reader): Planned {
    const again = this.plan(
      before,
      good.map((entry) => entry.block),
      reader,
    );
    // A block before it may be bad in a way only the store shows; the first one is the one to name.
    return { ...again, failure: again.failure ?? failure };
  }

  private reset(blocks: readonly Block[]): void {
    let coins = 0;
    for (const { txs } of blocks) for (const tx of txs) coins += tx.spends.length + tx.creates.length;
    this.arena.reset();
    this.table.reset(coins);
    this.wanted = [];
    this.wantedKeys = [];
    this.wantedBy = [];
  }

  private addIds(entry: PlannedBlock): null {
    for (const tx of entry.block.txs) entry.deltaTxs.push({ id: tx.id, valid: tx.valid, grant: false, firstIndex: 0, count: 0 });
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
      const failure = this.spend(entry, tx, number) ?? this.create(entry, tx, i);
      if (failure !== null) return failure;
    }
    return null;
  }

  private spend(entry: PlannedBlock, tx: Tx, number: number): UnspentError | null {
    const { block } = entry;
    if (tx.spends.length === 0) return null;
    const spender = { txId: tx.id, slot: block.slot, height: block.height };
    for (let i = 0; i < tx.spends.length; i++) {
      const { at, index } = tx.spends[i];
      let coin = this.table.find(block.raw, at, index);
      if (coin === undefined) {
        coin = this.want(block.raw, at, index, number);
      } else if (coin.spender !== null) {
        return new UnspentError('INPUT_MISSING', `${outpointText(coin)} is spent twice, again ${where(block, tx.id)}`, {
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
    copyBytes(raw, at, slab, keyAt, TXID_BYTES);
    writeU16(slab, keyAt + TXID_BYTES, index);
    const coin = new Coin(slab, keyAt, slab, 0, 0, false);
    this.table.add(coin);
    this.wanted.push(coin);
    this.wantedKeys.push(slab.subarray(keyAt, keyAt + OUTPOINT_BYTES));
    this.wantedBy.push(number);
    return coin;
  }

  private create(entry: PlannedBlock, tx: Tx, txIndex: number): UnspentError | null {
    const { block } = entry;
    const { creates } = tx;
    entry.deltaTxs.push({
      id: tx.id,
      valid: tx.valid,
      grant: false,
      firstIndex: creates.length > 0 ? creates[0].index : 0,
      count: creates.length,
    });
    for (const create of creates) {
      const known = this.table.find(tx.id, 0, create.index);
      if (known !== undefined) return early(known, block, tx);
      entry.created.push(this.coin(block, block.raw, create, tx.id, txIndex));
    }
    return null;
  }

  private grant(entry: PlannedBlock, grants: readonly Grant[]): void {
    for (let i = 0; i < grants.length; i++) {
      const { txId, create, raw } = grants[i];
      entry.deltaTxs.push({ id: txId, valid: true, grant: true, firstIndex: create.index, count: 1 });
      entry.created.push(this.coin(entry.block, raw, create, txId, GRANT_TX_INDEX + i));
    }
  }

  private coin(block: Block, raw: Uint8Array, create: Create, txId: Uint8Array, txIndex: number): Coin {
    const rawLength = create.end - create.start;
    const keyAt = this.arena.take(OUTPOINT_BYTES + VALUE_HEADER_BYTES + KEYS_BYTES_MAX + rawLength);
    const { slab } = this.arena;
    copyBytes(txId, 0, slab, keyAt, TXID_BYTES);
    writeU16(slab, keyAt + TXID_BYTES, create.index);
    const at = keyAt + OUTPOINT_BYTES;
    this.ledger.findKeys(raw, create, this.keys);
    slab[at] = (create.flags & LEDGER_FLAGS_MASK) | (this.keys.mask << KEY_MASK_SHIFT);
    writeU32(slab, at + AT.height, block.height);
    writeU64(slab, at + AT.slot, block.slot);
    writeU32(slab, at + AT.txIndex, txIndex);
    writeU32(slab, at + AT.value, create.valueHi);
    writeU32(slab, at + AT.value + 4, create.valueLo);
    const outputAt = writeKeys(slab, at, this.keys, raw, create.start);
    if (rawLength <= 128) copyBytes(raw, create.start, slab, outputAt, rawLength);
    else slab.set(raw.subarray(create.start, create.end), outputAt);
    const coin = new Coin(slab, keyAt, slab, at, outputAt + rawLength, true);
    this.table.add(coin);
    return coin;
  }

  /** Unspent outputs that the ledger itself removes before this block. */
  private sweep(entry: PlannedBlock, drops: NonNullable<Transition['drops']>, reader: Reader): void {
    const spender = { txId: ZERO_ID, slot: entry.block.slot, height: entry.block.height };
    for (const [key, value] of reader.scan(UNSPENT)) {
      if (!drops(value, outputOffset(value, 0), value.length)) continue;
      const coin = new Coin(key, 0, value, 0, value.length, false);
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
      const coin = this.wanted[i];
      coin.bytes = value;
      coin.at = 0;
      coin.end = value.length;
    }
    if (firstMissing < planned.length && this.options.partial) {
      for (const entry of planned) if (entry.missing > 0) entry.spent = entry.spent.filter((coin) => coin.length > 0);
    }
    return firstMissing;
  }
}

function net(planned: readonly PlannedBlock[]): Step<PlannedBlock> {
  const added: Coin[] = [];
  const removed: Coin[] = [];
  for (const entry of planned) {
    for (const coin of entry.created) if (coin.spender === null) added.push(coin);
    for (const coin of entry.spent) if (!coin.born) removed.push(coin);
  }
  return { blocks: planned, added: added.length > 0 ? added : NONE, removed };
}

function missingInput(entry: PlannedBlock, wanted: readonly Coin[]): UnspentError {
  const coin = entry.spent.find((spent) => !spent.born && spent.length === 0 && wanted.includes(spent));
  const { block } = entry;
  const spender = coin?.spender?.txId ?? ZERO_ID;
  return new UnspentError(
    'INPUT_MISSING',
    `${coin ? outpointText(coin) : 'an output'} is not unspent, but is spent ${where(block, spender)}`,
    {
      height: block.height,
      slot: block.slot,
      hash: toHex(block.hash),
      tx: toHex(spender),
    },
  );
}

/** An output comes into being that this step already knows: it exists twice, or was spent before there was any. */
function early(known: Coin, block: Block, tx: Tx): UnspentError {
  if (known.born) return new UnspentError('OUTPUT_DUPLICATE', `${outpointText(known)} is created twice, again ${where(block, tx.id)}`);
  const spender = known.spender?.txId ?? ZERO_ID;
  return new UnspentError(
    'INPUT_MISSING',
    `${outpointText(known)} is spent by ${toHex(spender)} before it is created ${where(block, tx.id)}`,
  );
}

function outpointText(coin: Coin): string {
  const { keyBytes, keyAt } = coin;
  return `${toHex(keyBytes, keyAt, keyAt + TXID_BYTES)}#${(keyBytes[keyAt + TXID_BYTES] << 8) | keyBytes[keyAt + TXID_BYTES + 1]}`;
}

function where(block: Block, txId: Uint8Array): string {
  return `by transaction ${toHex(txId)} of block ${block.height} (slot ${block.slot}, ${toHex(block.hash)})`;
}
