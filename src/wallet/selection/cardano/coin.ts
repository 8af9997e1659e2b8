/**
 * The values that go into a selection on Cardano and come out of it. A coin
 * holds lovelace and any number of assets, and is spent whole: whatever of it is
 * not paid comes back as change.
 */
import type { Asset } from '../../../ledgers/asset.ts';
import type { SizeParameters } from '../../../ledgers/cardano/fee.ts';
import type { OutRef } from '../../../ledgers/cardano/transaction.ts';
import type { OutputToWrite } from '../../../ledgers/cardano/transaction-write.ts';

/** An unspent output that a key may spend. Whoever lists coins leaves out leased ones, those of scripts, and those that carry a script. */
export interface Coin extends OutRef {
  readonly lovelace: bigint;
  readonly assets: readonly Asset[];
  /** Names the key that signs for it: keys cost bytes, each once. */
  readonly signer: string;
}

/** How coins are looked for: at random, with change about as large as what is paid (CIP-2), or the fewest that do. */
export type SelectionOrder = 'random-improve' | 'largest-first';

/** What is to be paid, and on which terms. */
export interface SelectionRequest {
  /** None: all that is selected comes back as change. */
  readonly outputs: readonly OutputToWrite[];
  readonly changeAddress: Uint8Array;
  readonly parameters: SizeParameters;
  /** Coins that are spent in any case. */
  readonly preset?: readonly Coin[];
  /** Slots in which the transaction is valid; they take bytes. */
  readonly validity?: { readonly from?: number; readonly until?: number };
  readonly order?: SelectionOrder;
}

/** What was decided on: inputs hold what outputs and change hold, and the fee. */
export interface Selection {
  readonly algorithm: SelectionOrder;
  readonly inputs: readonly Coin[];
  readonly outputs: readonly OutputToWrite[];
  /** Several only where one output cannot hold all assets that come back. */
  readonly change: readonly OutputToWrite[];
  readonly fee: bigint;
  /** Of the signed transaction, at most. */
  readonly bytes: number;
}
