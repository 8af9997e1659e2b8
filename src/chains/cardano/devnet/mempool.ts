/**
 * Transactions waiting for a devnet's next block. Each spends what the chain or
 * one before it in the queue has made, and once only; what a turn of the chain,
 * a block or the time takes the ground from is dropped, as a node does.
 */
import { brokenRule, type Coin } from './ledger-rules.ts';
import { effectOf, type SubmittedTx } from './submitted.ts';

/** A mainnet transaction has 16 kB at most; a test may want more, a block holds 90 kB. */
const TX_BYTES_MAX = 65_536;
export const BLOCK_TXS_BYTES_MAX = 90_112;
const WAITING_BYTES_MAX = 100 * BLOCK_TXS_BYTES_MAX;

/** The chain as far as those who wait depend on it. */
export interface ChainBelow {
  /** What it has unspent now. */
  utxo(key: string): Coin | undefined;
  /** Whether an address is one of the devnet's own people. */
  owns(addressHex: string): boolean;
}

export class Mempool {
  private readonly chain: ChainBelow;
  private list: SubmittedTx[] = [];
  private readonly spent = new Set<string>();
  private readonly made = new Map<string, Coin>();
  private bytes = 0;

  constructor(chain: ChainBelow) {
    this.chain = chain;
  }

  get txs(): readonly SubmittedTx[] {
    return this.list;
  }

  get sizes(): { readonly capacityBytes: number; readonly sizeBytes: number; readonly txs: number } {
    return { capacityBytes: WAITING_BYTES_MAX, sizeBytes: this.bytes, txs: this.list.length };
  }

  /** An output that can still be spent, by the chain or by those who wait. */
  find(key: string): Coin | undefined {
    return this.spent.has(key) ? undefined : (this.made.get(key) ?? this.chain.utxo(key));
  }

  /** Null: taken, for a block of this slot at the earliest. Else why not. */
  add(tx: SubmittedTx, slot: number): string | null {
    const refused = this.noRoom(tx) ?? brokenRule(tx, { slot, find: (key) => this.find(key) });
    if (refused !== null) return refused;
    const { spends, creates } = effectOf(tx, this.chain);
    for (const key of spends) this.spent.add(key);
    for (const coin of creates) this.made.set(coin.key, coin);
    this.list.push(tx);
    this.bytes += tx.tx.length;
    return null;
  }

  /** What goes into the next block, in order. */
  forBlock(): readonly SubmittedTx[] {
    let bytes = 0;
    const until = this.list.findIndex((tx) => {
      bytes += tx.tx.length;
      return bytes > BLOCK_TXS_BYTES_MAX;
    });
    return until < 0 ? this.list : this.list.slice(0, until);
  }

  /** The chain or the time has changed: these wait from now on, as far as they still can. */
  restart(txs: readonly SubmittedTx[], slot: number): void {
    this.list = [];
    this.bytes = 0;
    this.spent.clear();
    this.made.clear();
    for (const tx of txs) this.add(tx, slot);
  }

  private noRoom({ id, tx }: SubmittedTx): string | null {
    if (tx.length > TX_BYTES_MAX) return `the transaction has ${tx.length} bytes, more than ${TX_BYTES_MAX}`;
    if (this.bytes + tx.length > WAITING_BYTES_MAX) return 'the mempool is full';
    return this.list.some((waiting) => waiting.id === id) ? `transaction ${id} is waiting already` : null;
  }
}
