/**
 * The values that go into a selection and come out of it: coins that may be
 * spent, outputs that are to be paid, and the transaction that was decided on.
 * Amounts are satoshi.
 */
import type { Outpoint } from '../../../ledgers/outpoint.ts';
import type { FeeRates } from './fee-rate.ts';

/** An unspent output that the wallet may spend. Immature and leased ones are left out by whoever lists them. */
export interface Coin extends Outpoint {
  readonly value: bigint;
  /** Of the input that spends it, at most (input-weight.ts). */
  readonly weight: number;
  /** The kind of its output, such as `p2wpkh`. A selection of one kind is preferred: mixed kinds tell an observer which inputs belong together. */
  readonly type: string;
  /** Names its script. Coins with one name are spent together when partial spends are avoided. */
  readonly script: string;
  /** 0: it is in no block. */
  readonly confirmations: number;
  /** The wallet itself made the transaction it is of. */
  readonly own: boolean;
  /** Unconfirmed transactions it depends on, its own included. */
  readonly ancestors: number;
  /** Unconfirmed transactions that depend on the oldest of those, that one included. */
  readonly descendants: number;
  /** What it takes to lift its unconfirmed ancestors to the target rate (ancestry.ts). */
  readonly bumpFee: bigint;
}

/** An output to be paid. */
export interface PaymentOutput {
  readonly value: bigint;
  readonly script: Uint8Array;
  /** The fee is taken from this output: its receiver gets less. */
  readonly subtractFee?: boolean;
}

/** Where change goes. */
export interface ChangeOutput {
  readonly script: Uint8Array;
  /** Of the input that will spend it, at most (input-weight.ts). */
  readonly spendWeight: number;
}

/** As people name them. */
export const SELECTION_ORDERS = [
  'waste',
  'branch-and-bound',
  'coin-grinder',
  'single-random-draw',
  'knapsack',
  'largest-first',
  'oldest-first',
] as const;

/**
 * How coins are looked for. `waste`: by all searches that apply, and of their results the one with the least waste. Any
 * other: by that search alone.
 */
export type SelectionOrder = (typeof SELECTION_ORDERS)[number];

/** Which coins may be spent, and how. */
export interface SelectionPolicy {
  readonly order: SelectionOrder;
  /** Coins of one script are spent all or none, up to 100 of them. */
  readonly avoidPartialSpends: boolean;
  /** Unconfirmed coins that the wallet sent to itself may be spent. */
  readonly spendUnconfirmedChange: boolean;
  /** Unconfirmed coins that others sent may be spent: they may still be replaced. */
  readonly spendUnsafe: boolean;
  /** Coins whose chain of unconfirmed transactions is as long as nodes relay are not spent. */
  readonly rejectLongChains: boolean;
  /** Transactions in such a chain that nodes relay. */
  readonly ancestorsMax: number;
  readonly descendantsMax: number;
  /** Weight that the transaction may have. */
  readonly weightMax: number;
}

/** What is to be paid, and on which terms. */
export interface SelectionRequest {
  /** None: all that is selected comes back as change. */
  readonly outputs: readonly PaymentOutput[];
  readonly change: ChangeOutput;
  readonly rates: FeeRates;
  /** Where change is put among the outputs; default: at random. */
  readonly changeIndex?: number;
  /** Coins that are spent in any case. */
  readonly preset?: readonly Coin[];
  /** Only those: the caller has chosen. */
  readonly presetOnly?: boolean;
  /** Paid besides the fee of the size, such as what a replacement owes for those it replaces. */
  readonly fixedFee?: bigint;
  readonly policy?: Partial<SelectionPolicy>;
  /** What it takes to lift the ancestors of these coins together: less than the sum where they share some. */
  readonly combinedBumpFee?: (unconfirmed: readonly Coin[]) => bigint;
}

/** Which search found a selection. `manual`: the preset coins suffice. */
export type Algorithm = Exclude<SelectionOrder, 'waste'> | 'manual';

/** What was decided on. `sum(inputs) = sum(outputs) + change + fee`. */
export interface Selection {
  readonly algorithm: Algorithm;
  /** In random order. */
  readonly inputs: readonly Coin[];
  /** As asked for, less the fee where it is subtracted; without change. */
  readonly outputs: readonly PaymentOutput[];
  /** 0: there is no change output. */
  readonly change: bigint;
  /** Where the change output is put among the others; null: there is none. */
  readonly changeIndex: number | null;
  readonly fee: bigint;
  /** Of the signed transaction, at most. */
  readonly weight: number;
  readonly vsize: number;
  readonly waste: bigint;
}

/** The policy of Bitcoin Core's wallet as it comes. */
export const DEFAULT_POLICY: SelectionPolicy = {
  order: 'waste',
  avoidPartialSpends: false,
  spendUnconfirmedChange: true,
  spendUnsafe: false,
  rejectLongChains: true,
  ancestorsMax: 25,
  descendantsMax: 25,
  weightMax: 400_000,
};
