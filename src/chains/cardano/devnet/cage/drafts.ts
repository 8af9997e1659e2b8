/**
 * Transactions of cages as a v2 deployment has them: state first among the
 * outputs, one redeemer a script, refunds behind the state, validity intervals
 * that fit the phases. No script is executed. Value is conserved, fees and
 * outputs are paid from coins of the devnet's people, change goes to whoever
 * signs.
 */
import { encodeMintRedeemer, encodeSpendRedeemer, type MintRedeemer, type SpendRedeemer } from '../../../../ledgers/cardano/cage/index.ts';
import { fromHex } from '../../../../util/bytes.ts';
import { CborWriter } from '../../../../util/cbor-write.ts';
import type { Random } from '../../../random.ts';
import type { Draft } from '../body.ts';
import type { ModelUtxo } from '../model.ts';
import type { DraftOutput } from '../outputs.ts';
import type { SpendablePools } from '../spendable-pools.ts';
import { compareRefs } from './model.ts';
import { keyAddress, plainOutput, STATE_SCRIPT } from './scripts.ts';

export const ADA = 1_000_000n;
const FEE = 400_000n;
const COINS_MAX = 4;

const WITNESS = { keys: 0, redeemers: 5 } as const;
const PURPOSE = { spend: 0, mint: 1 } as const;
const UNITS = { memory: 400_000, steps: 120_000_000 } as const;

const witnessWriter = new CborWriter(16_384);

/** What the slots of a transaction may be: from, and up to but not including. */
export interface Validity {
  readonly from?: number;
  readonly until?: number;
}

/** A transaction before its coins are found. */
export interface CageDraft {
  /** Hash of the key that signs and gets the change. */
  readonly signer: string;
  /** Inputs that the protocol is about, each with the redeemer of its script; null: it is at the address of a key. */
  readonly spends: readonly { readonly utxo: ModelUtxo; readonly redeemer: SpendRedeemer | null }[];
  /** The change comes behind them. */
  readonly outputs: readonly DraftOutput[];
  readonly mint?: { readonly unit: string; readonly quantity: bigint; readonly redeemer: MintRedeemer };
  readonly references?: readonly ModelUtxo[];
  readonly validity?: Validity;
  /** Coins that must be among the inputs. */
  readonly seeds?: readonly ModelUtxo[];
}

/** Null when the devnet has no coins for it. */
export function completeDraft(random: Random, { coins }: SpendablePools, draft: CageDraft, valid: boolean): Draft | null {
  const scripts = draft.spends.map(({ utxo }) => utxo);
  const inputs = [...scripts, ...(draft.seeds ?? [])];
  const needed = sumOf(draft.outputs) + FEE + ADA;
  for (let drawn = 0; sumOf(inputs) < needed || inputs.length === scripts.length; drawn++) {
    const [coin] = coins.draw(random, 1, inputs);
    if (coin === undefined || drawn === COINS_MAX) return null;
    inputs.push(coin);
  }
  const collateral = coins.draw(random, 1, inputs);
  if (collateral.length === 0) return null;
  random.shuffle(inputs);
  const change = plainOutput({ address: keyAddress(draft.signer), lovelace: sumOf(inputs) - sumOf(draft.outputs) - FEE });
  return {
    inputs,
    outputs: [...draft.outputs, change],
    fee: FEE,
    ...(draft.mint === undefined ? {} : { mint: new Map([[draft.mint.unit, draft.mint.quantity]]) }),
    collateral,
    ...(draft.references === undefined ? {} : { references: draft.references }),
    validity: draft.validity ?? {},
    requiredSigners: [fromHex(draft.signer)],
    scriptDataHash: random.bytes(32),
    witnesses: witnessesOf(random, draft, inputs),
    valid,
  };
}

/** Redeemers count inputs in ledger order, however the transaction writes them; of policies there is one. */
function witnessesOf(random: Random, { spends, mint }: CageDraft, inputs: readonly ModelUtxo[]): Uint8Array {
  const sorted = inputs.map(({ key }) => key).sort(compareRefs);
  const redeemers = spends.flatMap(({ utxo, redeemer }) =>
    redeemer === null ? [] : [[PURPOSE.spend, sorted.indexOf(utxo.key), encodeSpendRedeemer(redeemer)] as const],
  );
  const minting = mint === undefined ? [] : [[PURPOSE.mint, 0, encodeMintRedeemer(mint.redeemer, 'v2')] as const];
  const entries = [...redeemers, ...minting];
  const w = witnessWriter.map(entries.length === 0 ? 1 : 2);
  w.uint(WITNESS.keys).array(1).array(2).bytes(random.bytes(32)).bytes(random.bytes(64));
  if (entries.length === 0) return w.take();
  const asMap = random.chance(0.7);
  w.uint(WITNESS.redeemers);
  if (asMap) w.map(entries.length);
  else w.array(entries.length);
  for (const [purpose, index, data] of entries) {
    if (asMap) w.array(2).uint(purpose).uint(index).array(2);
    else w.array(4).uint(purpose).uint(index);
    w.raw(data).array(2).uint(UNITS.memory).uint(UNITS.steps);
  }
  return w.take();
}

function sumOf(coins: readonly { readonly lovelace: bigint }[]): bigint {
  return coins.reduce((sum, { lovelace }) => sum + lovelace, 0n);
}

/** Makes one token of the devnet's deployment come or go. */
export function mintOf(name: string, redeemer: MintRedeemer): NonNullable<CageDraft['mint']> {
  return { unit: `${STATE_SCRIPT}.${name}`, quantity: redeemer.type === 'burning' ? -1n : 1n, redeemer };
}
