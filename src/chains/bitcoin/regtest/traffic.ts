/**
 * Traffic of a regtest chain: transactions made up from its own coins, of
 * several kinds. They pay keys of the wallet and all kinds of scripts, split,
 * sweep, write data between two outputs, spend outputs that are in no block yet,
 * and now and then replace a waiting transaction by one with a higher fee (BIP125).
 */

import { decodeTx } from '../../../ledgers/bitcoin/decode.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Random } from '../../random.ts';
import { type Coin, type CoinSet, OWNED } from './coins.ts';
import { type Draft, type DraftInput, type DraftOutput, encodeTx } from './encode.ts';
import type { Mempool, WaitingTx } from './mempool.ts';
import { dataScript, type PaidKind, paidScript, type ScriptBook } from './scripts.ts';

const SHAPES = [
  ['pay', 40],
  ['split', 15],
  ['sweep', 15],
  ['data', 12],
  ['kinds', 8],
  ['chain', 10],
] as const satisfies readonly (readonly [string, number])[];

/** The guest hears something every ten blocks or so. */
const PAID_KINDS: readonly (readonly [PaidKind, number])[] = [
  ['p2pkh', 20],
  ['p2wpkh', 25],
  ['p2tr', 25],
  ['p2pk', 8],
  ['multisig', 6],
  ['future', 6],
  ['guest', 4],
];

const FINAL = 0xffff_ffff;
/** Says "may be replaced", and "the lock time counts". */
const REPLACEABLE = 0xffff_fffd;
/** Satoshi: what is too little to be divided, the least of any output, and the most that is paid to others at once. */
const WORTH_SPENDING = 200_000n;
const LEAST = 1000n;
const GIVEN_MAX = 100_000n;
/** Satoshi for a virtual byte. */
const RATE_MAX = 30;
/** Coins held above which they are swept rather than split. */
const COINS_MANY = 300;
const PICKS = 24;
const FAUCET_INPUTS_MAX = 100;
const FAUCET_RATE = 20n;
/** Nodes refuse 25 in a row, and a chain adds a few at once. */
const ROW_MAX = 20;

/** The chain as the people see it. */
interface Sight {
  readonly coins: CoinSet;
  readonly pool: Mempool;
  readonly nextHeight: number;
  readonly coinbaseMaturity: number;
}

export class Traffic {
  private readonly book: ScriptBook;
  private readonly sight: Sight;

  constructor(book: ScriptBook, sight: Sight) {
    this.book = book;
    this.sight = sight;
  }

  /** One transaction or a chain of some, put into the mempool; none while no coin is ripe. */
  act(random: Random): readonly WaitingTx[] {
    const isRich = this.sight.coins.purse.size > COINS_MANY;
    const drawn = random.weighted(SHAPES);
    const shape = isRich && drawn === 'split' ? 'sweep' : drawn;
    if (shape === 'chain') return this.chain(random);
    const first = this.ripe(random);
    if (first === undefined) return [];
    const coins = shape === 'sweep' ? this.several(random, first) : [first];
    return [this.send(random, coins, this.outputs(random, shape))];
  }

  /** Pays more for one of the own that wait, so that it replaces the old one; null: none would do. */
  bump(random: Random): WaitingTx | null {
    const { pool } = this.sight;
    const candidates = pool.txs.filter((tx) => tx.owned === OWNED.all && pool.isReplaceable(tx));
    if (candidates.length === 0) return null;
    const old = random.pick(candidates);
    const evicted = pool.withDescendants(old);
    // What others have built on it is not the people's to take away.
    if (evicted.some(({ owned }) => owned !== OWNED.all)) return null;
    const lost = evicted.reduce((sum, { fee }) => sum + fee, 0n);
    const fee = lost + BigInt(old.tx.virtualSize * (2 + random.int(5))) + 1n;
    const outputs = old.tx.outputs.map(({ value, script }) => ({ value, script }));
    const change = outputs[outputs.length - 1];
    if (change.value < fee - old.fee + LEAST) return null;
    outputs[outputs.length - 1] = { ...change, value: change.value - (fee - old.fee) };
    return pool.add(encodeTx({ inputs: old.tx.inputs, outputs, lockTime: old.tx.lockTime }), OWNED.all);
  }

  /** Pays an amount to a script from the largest coins. Throws USAGE when there is not that much. */
  fund(script: Uint8Array, value: bigint): WaitingTx {
    const ripe = this.sight.coins.purse.values().filter((coin) => this.isRipe(coin));
    const coins: Coin[] = [];
    let sum = 0n;
    const fee = (): bigint => FAUCET_RATE * BigInt(100 + 150 * coins.length);
    for (const coin of ripe.sort((a, b) => (a.value < b.value ? 1 : a.value > b.value ? -1 : 0))) {
      if (sum >= value + fee() + LEAST || coins.length === FAUCET_INPUTS_MAX) break;
      coins.push(coin);
      sum += coin.value;
    }
    if (sum < value + fee() + LEAST) {
      const why = ripe.length === 0 ? 'no coin is ripe: coinbases are after 100 blocks, mine some' : `${sum} satoshi can be paid at once`;
      throw new UnspentError('USAGE', `cannot pay ${value} satoshi: ${why}`, { value: value.toString() });
    }
    const outputs = [
      { value, script },
      { value: sum - value - fee(), script: coins[0].script },
    ];
    return this.sight.pool.add(encodeTx({ inputs: this.inputs(coins, REPLACEABLE), outputs, lockTime: 0 }), OWNED.change);
  }

  private outputs(random: Random, shape: 'pay' | 'split' | 'sweep' | 'data' | 'kinds'): DraftOutput[] {
    if (shape === 'pay') return [random.chance(0.5) ? this.share(random) : this.gift(random)];
    if (shape === 'split') return Array.from({ length: 3 + random.int(5) }, () => this.share(random));
    if (shape === 'kinds') return PAID_KINDS.filter(([kind]) => kind !== 'guest').map(([kind]) => this.gift(random, kind));
    if (shape === 'sweep') return [];
    // Between two others, so that the indexes of what can be spent have a gap.
    return [this.gift(random), { value: 0n, script: dataScript(random, 1 + random.int(75)) }];
  }

  /** To one of the people: a part of what there is, said when that is known. */
  private share(random: Random): DraftOutput {
    return { value: -1n, script: this.book.own(random) };
  }

  private gift(random: Random, kind = random.weighted(PAID_KINDS)): DraftOutput {
    return { value: LEAST + random.big(GIVEN_MAX), script: paidScript(random, kind) };
  }

  /** Each spends what the one before it made. */
  private chain(random: Random): readonly WaitingTx[] {
    const made: WaitingTx[] = [];
    let coin = this.ripe(random);
    for (let left = 2 + random.int(3); left > 0 && coin !== undefined; left--) {
      const tx = this.send(random, [coin], this.outputs(random, 'pay'));
      made.push(tx);
      coin = [...this.sight.pool.unspent()].find((made) => made.own && made.value > WORTH_SPENDING && sameId(made, tx));
    }
    return made;
  }

  /** The outputs wanted, as far as the coins go, and the change last. */
  private send(random: Random, coins: readonly Coin[], wanted: readonly DraftOutput[]): WaitingTx {
    const isReplaceable = random.chance(0.7);
    const lockTime = random.chance(0.2) ? this.sight.nextHeight - 1 : 0;
    const inputs = this.inputs(coins, isReplaceable ? REPLACEABLE : lockTime > 0 ? FINAL - 1 : FINAL);
    // Alone, the shortest output would make a transaction that nodes find too short.
    const change = { value: 0n, script: wanted.length === 0 ? this.book.main : this.book.own(random) };
    const sizeOf = (outputs: readonly DraftOutput[]): bigint => virtualSize({ inputs, outputs: [...outputs, change], lockTime });
    const rate = BigInt(1 + random.int(RATE_MAX));
    const sum = coins.reduce((total, { value }) => total + value, 0n);
    const part = sum / BigInt(wanted.length + 2);
    let outputs = wanted.map((output) => (output.value < 0n ? { ...output, value: part } : output));
    const left = (): bigint => sum - outputs.reduce((total, { value }) => total + value, 0n) - rate * sizeOf(outputs);
    while (outputs.length > 1 && left() < LEAST) outputs = outputs.slice(0, -1);
    const draft: Draft = { inputs, outputs: [...outputs, { ...change, value: left() }], lockTime };
    return this.sight.pool.add(encodeTx(draft), OWNED.all);
  }

  private inputs(coins: readonly Coin[], sequence: number): DraftInput[] {
    return coins.map(({ txId, index, script }) => ({ txId, index, sequence, ...this.book.unlocking(script)! }));
  }

  /** A coin that can be spent now: from the mempool every fourth time. */
  private ripe(random: Random): Coin | undefined {
    const { coins, pool } = this.sight;
    const fresh = random.chance(0.25) ? [...pool.unspent()].filter((coin) => coin.own && coin.value > WORTH_SPENDING) : [];
    const [drawn] = fresh.length === 0 ? [] : [random.pick(fresh)];
    if (drawn !== undefined && pool.rowBehind(drawn) < ROW_MAX) return drawn;
    for (let i = 0; i < PICKS && coins.purse.size > 0; i++) {
      const coin = coins.purse.pick(random);
      if (coin.value > WORTH_SPENDING && this.isRipe(coin)) return coin;
    }
    return undefined;
  }

  private several(random: Random, first: Coin): Coin[] {
    const found = new Map([[first.key, first]]);
    const { purse } = this.sight.coins;
    for (let i = 2 + random.int(8); i > 0 && purse.size > 0; i--) {
      const coin = purse.pick(random);
      if (this.isRipe(coin)) found.set(coin.key, coin);
    }
    return [...found.values()];
  }

  private isRipe({ key, coinbase, height }: Coin): boolean {
    const { pool, nextHeight, coinbaseMaturity } = this.sight;
    return !pool.isSpent(key) && (!coinbase || nextHeight - height >= coinbaseMaturity);
  }
}

function sameId({ txId }: Coin, { id }: WaitingTx): boolean {
  return Buffer.compare(txId, id) === 0;
}

function virtualSize(draft: Draft): bigint {
  return BigInt(Math.ceil(decodeTx(encodeTx(draft)).weight / 4));
}
