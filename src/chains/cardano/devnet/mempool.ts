/**
 * Transactions waiting for a devnet's next block. Each spends what the chain or
 * one before it in the queue has made, and once only; what a turn of the chain
 * or a block takes the ground from is dropped, as a node does.
 */
import type { Assets, ModelUtxo } from './model.ts';
import { assetsOf, refKey, type SubmittedTx } from './submitted.ts';

/** A mainnet transaction has 16 kB at most; a test may want more, a block holds 90 kB. */
const TX_BYTES_MAX = 65_536;
export const BLOCK_TXS_BYTES_MAX = 90_112;
const WAITING_BYTES_MAX = 100 * BLOCK_TXS_BYTES_MAX;

type Coin = Pick<ModelUtxo, 'lovelace' | 'assets'>;

export class Mempool {
  private readonly utxo: (key: string) => Coin | undefined;
  private list: SubmittedTx[] = [];
  private readonly spent = new Set<string>();
  private readonly made = new Map<string, Coin>();
  private bytes = 0;

  /** `utxo`: what the chain has unspent now. */
  constructor(utxo: (key: string) => Coin | undefined) {
    this.utxo = utxo;
  }

  get txs(): readonly SubmittedTx[] {
    return this.list;
  }

  get sizes(): { readonly capacityBytes: number; readonly sizeBytes: number; readonly txs: number } {
    return { capacityBytes: WAITING_BYTES_MAX, sizeBytes: this.bytes, txs: this.list.length };
  }

  /** An output that can still be spent, by the chain or by those who wait. */
  find(key: string): Coin | undefined {
    return this.spent.has(key) ? undefined : (this.made.get(key) ?? this.utxo(key));
  }

  /** Null: taken. Else why not. */
  add(tx: SubmittedTx): string | null {
    const refused = this.check(tx);
    if (refused !== null) return refused;
    const { inputs, collateral, outputs, collateralReturn } = tx.described;
    for (const ref of tx.valid ? inputs : collateral) this.spent.add(refKey(ref));
    for (const output of tx.valid ? outputs : collateralReturn === null ? [] : [collateralReturn]) {
      this.made.set(`${tx.id}#${output.index}`, { lovelace: output.lovelace, assets: assetsOf(output.assets) });
    }
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

  /** The chain has changed: these wait from now on, as far as they still can. */
  restart(txs: readonly SubmittedTx[]): void {
    this.list = [];
    this.bytes = 0;
    this.spent.clear();
    this.made.clear();
    for (const tx of txs) this.add(tx);
  }

  private check(tx: SubmittedTx): string | null {
    const { inputs, collateral, referenceInputs } = tx.described;
    if (tx.tx.length > TX_BYTES_MAX) return `the transaction has ${tx.tx.length} bytes, more than ${TX_BYTES_MAX}`;
    if (this.bytes + tx.tx.length > WAITING_BYTES_MAX) return 'the mempool is full';
    if (this.list.some(({ id }) => id === tx.id)) return `transaction ${tx.id} is waiting already`;
    if (inputs.length === 0) return 'the transaction has no inputs';
    if (!tx.valid && collateral.length === 0) return 'the transaction is phase-2 invalid and has no collateral';
    for (const refs of [inputs, collateral, referenceInputs]) {
      const keys = refs.map(refKey);
      const missing = keys.find((key) => this.find(key) === undefined);
      if (missing !== undefined) return `${missing} is not unspent`;
      const twice = keys.find((key, i) => keys.indexOf(key) !== i);
      if (twice !== undefined) return `${twice} is named twice`;
    }
    if (!tx.valid) return null;
    return this.unbalanced(tx, inputs.map(refKey));
  }

  /** Deposits and refunds would need a ledger: with certificates, withdrawals or proposals the sum is not checked. */
  private unbalanced({ described, mint }: SubmittedTx, inputs: readonly string[]): string | null {
    const { outputs, fee, donation, certificateCount, withdrawalCount, proposalCount } = described;
    if (certificateCount + withdrawalCount + proposalCount > 0) return null;
    const coins = inputs.map((key) => this.find(key)!);
    const consumed = coins.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    const produced = outputs.reduce((sum, { lovelace }) => sum + lovelace, fee + donation);
    if (consumed !== produced) return `value is not conserved: ${consumed} lovelace go in, ${produced} come out`;
    const balance = new Map<string, bigint>();
    const count = (assets: Assets, sign: bigint): void => {
      for (const [asset, quantity] of assets) balance.set(asset, (balance.get(asset) ?? 0n) + sign * quantity);
    };
    for (const { assets } of coins) count(assets, 1n);
    count(mint, 1n);
    for (const { assets } of outputs) count(assetsOf(assets), -1n);
    const wrong = [...balance].find(([, rest]) => rest !== 0n);
    return wrong === undefined ? null : `value is not conserved: ${wrong[1]} of asset ${wrong[0]} are left`;
  }
}
