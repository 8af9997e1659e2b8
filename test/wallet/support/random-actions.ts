/**
 * Random lives of wallets: some transactions that spend one another, conflict
 * and pay two wallets, and calls that bring them in, confirm, replace, undo,
 * lease and delete them, in and out of order. All of it follows from a seed, and
 * an action is plain data, so that any part of a life can be lived again.
 */
import type { Random } from '../../../src/chains/random.ts';
import type { Outpoint } from '../../../src/ledgers/outpoint.ts';
import type { WalletBlock, WalletTx } from '../../../src/wallet/records.ts';
import { blockAt, idOf, NOW, scriptOf } from './world.ts';

/** News of a transaction, by its number in the life. */
export interface RandomNews {
  readonly tx: number;
  /** Its number in the life, from 0. */
  readonly wallet: number;
  readonly status: 'pending' | 'published';
  readonly block?: WalletBlock;
  readonly label?: string;
  readonly received: number;
  readonly replace?: boolean;
  readonly reactivate?: boolean;
  /** The credit of this output is left out, as if it were not known yet. */
  readonly withoutCredit?: number;
}

export type RandomAction =
  | { readonly kind: 'create'; readonly news: RandomNews }
  | { readonly kind: 'batch'; readonly wallet: number; readonly txs: readonly RandomNews[]; readonly tip?: WalletBlock }
  | {
      readonly kind: 'scan';
      readonly wallet: number;
      readonly index: number;
      readonly txs: readonly RandomNews[];
      readonly blocks: readonly WalletBlock[];
    }
  | { readonly kind: 'connect'; readonly block: WalletBlock; readonly txs: readonly RandomNews[]; readonly isStale: boolean }
  | { readonly kind: 'rollback'; readonly height: number; readonly isStale: boolean }
  | { readonly kind: 'rewind'; readonly wallet: number; readonly block: WalletBlock }
  | { readonly kind: 'sync'; readonly wallet: number; readonly block: WalletBlock; readonly birthday: boolean }
  | {
      readonly kind: 'update';
      readonly wallet: number;
      readonly tx: number;
      readonly label?: string;
      readonly status?: 'pending' | 'published';
      readonly block?: WalletBlock;
    }
  | { readonly kind: 'invalidate' | 'delete'; readonly wallet: number; readonly tx: number }
  | { readonly kind: 'mempool'; readonly wallet: number; readonly tx: number; readonly seen: boolean; readonly now: number }
  | { readonly kind: 'prune'; readonly wallet: number; readonly before: number }
  | {
      readonly kind: 'lease';
      readonly wallet: number;
      readonly coins: readonly Outpoint[];
      readonly id: string;
      readonly now: number;
      readonly durationMs: number | null;
      readonly confs?: number;
    }
  | { readonly kind: 'release'; readonly wallet: number; readonly coin: Outpoint; readonly id: string; readonly now: number }
  | { readonly kind: 'expire'; readonly now: number }
  | { readonly kind: 'select'; readonly wallet: number; readonly count: number; readonly id: string; readonly now: number };

/** Of which wallets there are addresses: 0 to 5 of one account, 6 and 7 of another scope, 8 and 9 imported alone. */
export const RANDOM_WALLETS = 2;
/** Transactions of a life, at least, and calls for each of them in a longer one. */
const TXS_MIN = 22;
const CALLS_PER_TX = 4;
const OUTSIDE_OUTPOINTS = 5;

const WEIGHTS = [
  ['create', 40],
  ['batch', 7],
  ['scan', 2],
  ['connect', 14],
  ['rollback', 6],
  ['rewind', 2],
  ['sync', 3],
  ['update', 6],
  ['invalidate', 7],
  ['delete', 4],
  ['mempool', 3],
  ['prune', 2],
  ['lease', 9],
  ['release', 3],
  ['expire', 1],
  ['select', 2],
] as const satisfies readonly (readonly [RandomAction['kind'], number])[];

export class RandomLife {
  readonly txs: readonly WalletTx[];
  readonly #random: Random;
  #now = NOW;
  #tip = 3;
  #fork = 0;
  /** Blocks that were connected and not rolled back, if all went well. */
  #blocks: WalletBlock[] = [];
  #steps = 0;
  /** What was brought in, if all went well: transaction and wallet. */
  readonly #brought: { readonly tx: number; readonly wallet: number }[] = [];
  /** What was leased last, if all went well. */
  #leased: { readonly wallet: number; readonly coin: Outpoint } | null = null;

  /** `length`: calls that are to come. */
  constructor(random: Random, length: number) {
    this.#random = random;
    const txs: WalletTx[] = [];
    for (let n = 0; n < Math.max(TXS_MIN, length / CALLS_PER_TX); n++) txs.push(this.#makeTx(n, txs));
    this.txs = txs;
  }

  /** Spends outputs of earlier ones and some of somebody else's, so few that others do, too. */
  #makeTx(n: number, earlier: readonly WalletTx[]): WalletTx {
    const random = this.#random;
    const isCoinbase = random.chance(0.15);
    const inputs = new Map<string, Outpoint>();
    for (let left = isCoinbase ? 0 : 1 + random.int(3); left > 0; left--) {
      const parent = earlier.length > 0 && random.chance(0.75) ? earlier[Math.max(0, earlier.length - 1 - random.int(8))] : null;
      const outside = random.int(OUTSIDE_OUTPOINTS);
      const outpoint = parent
        ? { txId: parent.id, index: random.int(parent.outputs.length) }
        : { txId: idOf(`outside ${outside}`), index: 0 };
      inputs.set(`${outpoint.txId.join()}#${outpoint.index}`, outpoint);
    }
    const outputs = Array.from({ length: 1 + random.int(3) }, () => {
      const wallet = random.weighted([
        ['1', 5],
        ['2', 3],
        ['0', 2],
      ] as const);
      return { script: scriptOf(Number(wallet), random.int(10)), amount: BigInt(1 + random.int(1000)) };
    });
    return { id: idOf(`t${n}`), raw: Uint8Array.of(n), inputs: [...inputs.values()], outputs, isCoinbase };
  }

  next(): RandomAction {
    this.#steps++;
    this.#now += this.#random.int(400);
    const kind = this.#random.weighted(WEIGHTS);
    const wallet = this.#wallet();
    switch (kind) {
      case 'create':
        return { kind, news: this.#news(wallet) };
      case 'connect':
      case 'batch':
      case 'scan':
        return this.#several(kind, wallet);
      case 'rollback':
      case 'rewind':
      case 'sync':
        return this.#chain(kind, wallet);
      case 'lease':
      case 'release':
      case 'select':
        return this.#leasing(kind, wallet);
      case 'update':
        return { kind, ...this.#known(wallet), ...this.#change() };
      case 'mempool':
        return { kind, ...this.#known(wallet), seen: this.#random.chance(0.5), now: this.#now };
      case 'prune':
        return { kind, wallet, before: this.#now - this.#random.int(4000) };
      case 'expire':
        return { kind, now: this.#now };
      default:
        return { kind, ...this.#known(wallet) };
    }
  }

  /** Mostly one of the last that were brought in. */
  #known(wallet: number): { tx: number; wallet: number } {
    const last = this.#brought.slice(-12);
    return last.length > 0 && this.#random.chance(0.9) ? this.#random.pick(last) : { tx: this.#tx(), wallet };
  }

  #wallet(): number {
    return this.#random.chance(0.7) ? 0 : 1;
  }

  /** Later ones as the life goes on, and sometimes one whose parents are still to come. */
  #tx(): number {
    const until = Math.min(this.txs.length, 4 + Math.floor(this.#steps / 3));
    return this.#random.chance(0.6) ? Math.max(0, until - 1 - this.#random.int(7)) : this.#random.int(until);
  }

  #news(wallet: number, block?: WalletBlock): RandomNews {
    const random = this.#random;
    const tx = this.#tx();
    const { isCoinbase, outputs } = this.txs[tx];
    const canConfirm = this.#blocks.length > 0 || random.chance(0.1);
    const at = block ?? (canConfirm && random.chance(isCoinbase ? 0.95 : 0.2) ? this.#someBlock() : undefined);
    const status = at !== undefined || random.chance(0.6) ? 'published' : 'pending';
    this.#brought.push({ tx, wallet });
    return {
      tx,
      wallet,
      status,
      received: this.#now,
      ...(at !== undefined && { block: at }),
      ...(random.chance(0.1) && { label: random.pick(['', 'rent', 'gift']) }),
      ...(random.chance(0.3) && { replace: true }),
      ...((status === 'published' ? random.chance(0.2) : random.chance(0.01)) && { reactivate: true }),
      ...(random.chance(0.1) && { withoutCredit: random.int(outputs.length) }),
    };
  }

  /** Mostly one that is there. */
  #someBlock(): WalletBlock {
    const random = this.#random;
    if (this.#blocks.length === 0 || random.chance(0.03)) return blockAt(this.#tip, random.int(3));
    return this.#blocks[Math.max(0, this.#blocks.length - 1 - (random.chance(0.7) ? 0 : random.int(4)))];
  }

  #nextBlock(): WalletBlock {
    this.#tip += this.#random.chance(0.7) ? 1 : 1 + this.#random.int(6);
    const block = { ...blockAt(this.#tip, this.#fork), timestamp: Math.floor(this.#now / 1000) };
    this.#blocks.push(block);
    return block;
  }

  #several(kind: 'connect' | 'batch' | 'scan', wallet: number): RandomAction {
    const random = this.#random;
    const count = random.int(4);
    const some = (make: () => RandomNews) => Array.from({ length: count }, make).map(({ reactivate: _, ...news }) => news);
    if (kind === 'connect') {
      const block = this.#nextBlock();
      return { kind, block, txs: some(() => this.#news(this.#wallet(), block)), isStale: random.chance(0.02) };
    }
    const txs = some(() => this.#news(wallet));
    if (kind === 'scan') return { kind, wallet, index: random.int(4), txs, blocks: random.chance(0.5) ? [this.#nextBlock()] : [] };
    return { kind, wallet, txs, ...(random.chance(0.4) && { tip: this.#someBlock() }) };
  }

  #chain(kind: 'rollback' | 'rewind' | 'sync', wallet: number): RandomAction {
    const random = this.#random;
    if (kind === 'sync') return { kind, wallet, block: this.#someBlock(), birthday: random.chance(0.3) };
    if (kind === 'rewind') return { kind, wallet, block: this.#someBlock() };
    const height = Math.max(0, this.#tip + 1 - (1 + (random.chance(0.8) ? random.int(3) : random.int(20))));
    this.#blocks = this.#blocks.filter((block) => block.height < height);
    this.#tip = Math.min(this.#tip, Math.max(height - 1, 3));
    this.#fork++;
    return { kind, height, isStale: random.chance(0.02) };
  }

  #leasing(kind: 'lease' | 'release' | 'select', wallet: number): RandomAction {
    const random = this.#random;
    const [id, now] = [random.pick(['one', 'two']), this.#now];
    if (this.#leased !== null && kind !== 'select' && random.chance(0.4)) {
      const { wallet: owner, coin } = this.#leased;
      return kind === 'release' ? { kind, wallet: owner, coin, id, now } : this.#lease(owner, [coin], id);
    }
    const { tx, wallet: owner } = this.#known(wallet);
    const own = this.txs[tx].outputs.flatMap(({ script }, index) => (script[2] === owner + 1 ? [{ txId: this.txs[tx].id, index }] : []));
    const coin = own.length > 0 ? random.pick(own) : { txId: this.txs[tx].id, index: 0 };
    if (kind === 'release') return { kind, wallet: owner, coin, id, now };
    if (kind === 'select') return { kind, wallet, count: 1 + random.int(2), id, now };
    this.#leased = { wallet: owner, coin };
    return this.#lease(owner, random.chance(0.7) ? [coin] : own, id);
  }

  #lease(wallet: number, coins: readonly Outpoint[], id: string): RandomAction {
    const durationMs = this.#random.chance(0.1) ? null : 1 + this.#random.int(5000);
    const confs = this.#random.chance(0.4) ? { confs: 1 + this.#random.int(4) } : {};
    return { kind: 'lease', wallet, coins, id, now: this.#now, durationMs, ...confs };
  }

  #change(): { label?: string; status?: 'pending' | 'published'; block?: WalletBlock } {
    const random = this.#random;
    const label = random.pick(['', 'rent', 'salary']);
    if (random.chance(0.4)) return { label };
    const block = random.chance(0.4) ? { block: this.#someBlock() } : {};
    return { status: random.chance(0.9) ? 'published' : 'pending', ...block, ...(random.chance(0.2) && { label }) };
  }
}
