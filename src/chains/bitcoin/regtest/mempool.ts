/**
 * Transactions that wait for a block, under the rules of Bitcoin Core as far as
 * they do not need a signature: each spends what the chain or one before it has
 * made, once; a better paying one may replace another that allows it (BIP125).
 * Whatever is refused is refused with TX_REFUSED and leaves nothing behind.
 */
import { decodeTx } from '../../../ledgers/bitcoin/decode.ts';
import { type DescribedTx, describeTx } from '../../../ledgers/bitcoin/describe.ts';
import { formatId } from '../../../ledgers/bitcoin/ids.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { REGTEST_POOL_BYTES_MAX } from '../../../util/limits.ts';
import { type Coin, coinKey, coinsOf, inputKey, keyOf, type Owned } from './coins.ts';
import { whyKeyLocked } from './key-spend.ts';
import { type NextBlock, sigopsCost, whyLockedInTime, whyMalformed } from './rules.ts';
import { type ScriptBook, whyLocked } from './scripts.ts';

/** BIP125: sequences below say "may be replaced". */
const REPLACEABLE_BELOW = 0xffff_fffe;
const EVICTED_MAX = 100;
const ANCESTORS_MAX = 25;
/** Satoshi for a virtual byte: of any transaction, and of what a replacement adds. */
const RELAY_RATE = 1n;

/** What the chain below says. */
export interface PoolChain extends NextBlock {
  readonly coinbaseMaturity: number;
  coin(key: string): Coin | undefined;
}

export interface WaitingTx {
  /** Hex of the id. */
  readonly key: string;
  readonly id: Uint8Array;
  readonly witnessId: Uint8Array;
  readonly raw: Uint8Array;
  readonly tx: DescribedTx;
  /** What its inputs spend. */
  readonly coins: readonly Coin[];
  readonly fee: bigint;
  readonly sigopsCost: number;
  readonly owned: Owned;
}

export class Mempool {
  private readonly ground: PoolChain;
  private readonly book: ScriptBook;
  private readonly waiting = new Map<string, WaitingTx>();
  /** By coin: who spends it. */
  private readonly spenders = new Map<string, WaitingTx>();
  /** All that those who wait make, spent or not. */
  private readonly made = new Map<string, Coin>();
  private bytes = 0;

  constructor(ground: PoolChain, book: ScriptBook) {
    this.ground = ground;
    this.book = book;
  }

  get size(): number {
    return this.waiting.size;
  }

  /** Parents first. */
  get txs(): readonly WaitingTx[] {
    return [...this.waiting.values()];
  }

  get(key: string): WaitingTx | undefined {
    return this.waiting.get(key);
  }

  /** What those who wait have made and nobody spends yet. */
  *unspent(): Iterable<Coin> {
    for (const coin of this.made.values()) if (!this.spenders.has(coin.key)) yield coin;
  }

  isSpent(key: string): boolean {
    return this.spenders.has(key);
  }

  /** How many wait, one on the other, up to the one that made this coin. */
  rowBehind({ txId }: Coin): number {
    const maker = this.waiting.get(keyOf(txId));
    return maker === undefined ? 0 : 1 + this.ancestors(maker.tx).size;
  }

  /** Throws TX_REFUSED. */
  add(raw: Uint8Array, owned: Owned): WaitingTx {
    const bytes = raw.slice();
    const tx = readTx(bytes);
    const coins = this.check(tx);
    const fee = feeOf(tx, coins);
    if (fee < RELAY_RATE * BigInt(tx.virtualSize)) refuse(`min relay fee not met, ${fee} < ${RELAY_RATE * BigInt(tx.virtualSize)}`);
    tx.inputs.forEach((input, i) => {
      const why = whyLocked(coins[i].script, input, (program) => whyKeyLocked(tx, i, coins[i], program));
      if (why !== null) refuse(`mandatory-script-verify-flag-failed (${why}), input ${i}`);
    });
    const { id, witnessId } = tx;
    const entry: WaitingTx = { key: keyOf(id), id, witnessId, raw: bytes, tx, coins, fee, sigopsCost: sigopsCost(tx), owned };
    const evicted = this.replaced(entry);
    if (this.ancestors(tx).size >= ANCESTORS_MAX) refuse(`too-long-mempool-chain, more than ${ANCESTORS_MAX} ancestors`);
    for (const other of evicted) this.remove(other);
    this.insert(entry);
    return entry;
  }

  /** A block has taken these. */
  settle(txs: readonly WaitingTx[]): void {
    for (const tx of txs) this.remove(tx);
  }

  /** The chain has turned: these wait from now on, as far as they still can. */
  restart(txs: readonly Pick<WaitingTx, 'raw' | 'owned'>[]): void {
    this.waiting.clear();
    this.spenders.clear();
    this.made.clear();
    this.bytes = 0;
    for (const { raw, owned } of txs) {
      try {
        this.add(raw, owned);
      } catch (error) {
        // What lost its ground with the other branch is gone, as with a node.
        if (!isUnspentError(error, 'TX_REFUSED')) throw error;
      }
    }
  }

  /** The transaction and all that build on it, parents first. */
  withDescendants(tx: WaitingTx): WaitingTx[] {
    const found = new Set([tx.key]);
    for (const other of this.waiting.values()) {
      if (other.tx.inputs.some(({ txId }) => found.has(keyOf(txId)))) found.add(other.key);
    }
    return [...this.waiting.values()].filter(({ key }) => found.has(key));
  }

  isReplaceable({ tx }: WaitingTx): boolean {
    const signals = ({ inputs }: DescribedTx): boolean => inputs.some(({ sequence }) => sequence < REPLACEABLE_BELOW);
    return signals(tx) || [...this.ancestors(tx).values()].some((ancestor) => signals(ancestor.tx));
  }

  private check(tx: DescribedTx): Coin[] {
    const malformed = whyMalformed(tx);
    if (malformed !== null) refuse(malformed);
    if (this.waiting.has(keyOf(tx.id))) refuse('txn-already-in-mempool');
    if (this.bytes + tx.size > REGTEST_POOL_BYTES_MAX) refuse('mempool full');
    const coins = tx.inputs.map((input) => this.found(inputKey(input)) ?? this.missing(tx));
    const locked = whyLockedInTime(tx, coins, this.ground);
    if (locked !== null) refuse(locked);
    for (const { coinbase, height } of coins) {
      if (!coinbase) continue;
      const depth = this.ground.nextHeight - height;
      if (depth < this.ground.coinbaseMaturity) refuse(`bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth ${depth}`);
    }
    return coins;
  }

  private found(key: string): Coin | undefined {
    return this.made.get(key) ?? this.ground.coin(key);
  }

  private missing(tx: DescribedTx): never {
    const isKnown = tx.outputs.some(({ index }) => this.ground.coin(coinKey(tx.id, index)) !== undefined);
    return refuse(isKnown ? 'txn-already-known' : 'bad-txns-inputs-missingorspent');
  }

  /** What has to go for this one (BIP125's rules). */
  private replaced(entry: WaitingTx): ReadonlySet<WaitingTx> {
    const conflicts = new Set(entry.coins.flatMap(({ key }) => this.spenders.get(key) ?? []));
    if (conflicts.size === 0) return conflicts;
    const evicted = new Set([...conflicts].flatMap((tx) => this.withDescendants(tx)));
    const made = new Set([...evicted].map(({ key }) => key));
    const inputs = entry.tx.inputs.map(({ txId }) => keyOf(txId));
    if (inputs.some((key) => made.has(key))) refuse('bad-txns-spends-conflicting-tx');
    if (![...conflicts].every((tx) => this.isReplaceable(tx))) refuse('txn-mempool-conflict');
    if (evicted.size > EVICTED_MAX) refuse('too many potential replacements');
    const known = new Set([...conflicts].flatMap(({ tx }) => tx.inputs.map(({ txId }) => keyOf(txId))));
    if (inputs.some((key) => this.waiting.has(key) && !known.has(key))) refuse('replacement-adds-unconfirmed');
    this.checkFees(entry, conflicts, evicted);
    return evicted;
  }

  private checkFees({ id, fee, tx }: WaitingTx, conflicts: ReadonlySet<WaitingTx>, evicted: ReadonlySet<WaitingTx>): void {
    const rejecting = `insufficient fee, rejecting replacement ${formatId(id)}`;
    for (const other of conflicts) {
      const isBetter = fee * BigInt(other.tx.virtualSize) > other.fee * BigInt(tx.virtualSize);
      if (!isBetter) refuse(`${rejecting}; new feerate ${rate(fee, tx)} <= old feerate ${rate(other.fee, other.tx)}`);
    }
    const lost = [...evicted].reduce((sum, other) => sum + other.fee, 0n);
    if (fee < lost) refuse(`${rejecting}, less fees than conflicting txs; ${fee} < ${lost}`);
    const wanted = RELAY_RATE * BigInt(tx.virtualSize);
    if (fee - lost < wanted) refuse(`${rejecting}, not enough additional fees to relay; ${fee - lost} < ${wanted}`);
  }

  private ancestors(tx: DescribedTx): Map<string, WaitingTx> {
    const found = new Map<string, WaitingTx>();
    const look = ({ inputs }: DescribedTx): void => {
      for (const { txId } of inputs) {
        const parent = this.waiting.get(keyOf(txId));
        if (parent === undefined || found.has(parent.key)) continue;
        found.set(parent.key, parent);
        look(parent.tx);
      }
    };
    look(tx);
    return found;
  }

  private insert(entry: WaitingTx): void {
    this.waiting.set(entry.key, entry);
    this.bytes += entry.raw.length;
    for (const { key } of entry.coins) this.spenders.set(key, entry);
    for (const coin of coinsOf(entry.tx, this.ground.nextHeight, entry.owned, this.book)) this.made.set(coin.key, coin);
  }

  private remove({ key, raw, coins, tx }: WaitingTx): void {
    this.waiting.delete(key);
    this.bytes -= raw.length;
    for (const coin of coins) this.spenders.delete(coin.key);
    for (const { index } of tx.outputs) this.made.delete(coinKey(tx.id, index));
  }
}

function readTx(raw: Uint8Array): DescribedTx {
  try {
    return describeTx(decodeTx(raw));
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('TX_REFUSED', `TX decode failed: ${error.message}`, {}, error);
  }
}

function feeOf({ outputs }: DescribedTx, coins: readonly Coin[]): bigint {
  const [given, taken] = [coins, outputs].map((list) => list.reduce((sum, { value }) => sum + value, 0n));
  return given < taken ? refuse(`bad-txns-in-belowout, value in (${given}) < value out (${taken})`) : given - taken;
}

function rate(fee: bigint, { virtualSize }: DescribedTx): string {
  return `${(Number(fee) / virtualSize).toFixed(3)} sat/vB`;
}

function refuse(reason: string): never {
  throw new UnspentError('TX_REFUSED', reason);
}
