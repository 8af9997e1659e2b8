/**
 * Makes a transaction of what the protocol wants: coins of the payer until
 * everything is paid, the fee by size and execution units, collateral, change.
 * Coins with assets, datums or scripts are left alone. Assets that the inputs
 * bring and no output takes go to the payer, in an output of their own.
 */
import type { Asset } from '../../../ledgers/asset.ts';
import { feeMin, lovelaceMin, signatureBytes } from '../../../ledgers/cardano/fee.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { OutRef } from '../../../ledgers/cardano/transaction.ts';
import {
  type InputToWrite,
  type OutputToWrite,
  sameRef,
  type TransactionToWrite,
  writeTransaction,
} from '../../../ledgers/cardano/transaction-write.ts';
import { toHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { FEE_ROUNDS_MAX } from '../../../util/limits.ts';

/** An output of the payer that holds nothing but lovelace. */
export interface Coin extends OutRef {
  readonly lovelace: bigint;
}

/** An input with what it holds. */
export interface PlannedInput extends InputToWrite {
  readonly lovelace: bigint;
  readonly assets: readonly Asset[];
}

/** What a transaction does before it is paid for. */
export interface TransactionPlan {
  /** Besides coins, each with what it holds. */
  readonly inputs: readonly PlannedInput[];
  /** A coin that must be among the inputs. */
  readonly seed?: Coin;
  readonly outputs: readonly OutputToWrite[];
  readonly mint?: TransactionToWrite['mint'];
  readonly validity?: TransactionToWrite['validity'];
  readonly references?: readonly OutRef[];
  readonly scripts?: readonly Uint8Array[];
  /** Bytes of scripts that its references carry. */
  readonly referenceScriptBytes?: number;
  /** Of one script; left out: the scripts share what a transaction may use. */
  readonly units?: ExecutionUnits | undefined;
}

export interface Payer {
  readonly address: Uint8Array;
  readonly keyHash: Uint8Array;
  readonly coins: readonly Coin[];
}

const PLUTUS_V3_LANGUAGE = 2;
/** The transaction, without signatures. Throws USAGE when the coins do not pay for it, LIMIT when it is too large. */
export function balance(
  plan: TransactionPlan,
  payer: Payer,
  parameters: ProtocolParameters,
): { readonly tx: Uint8Array; readonly id: Uint8Array; readonly fee: bigint } {
  let fee = parameters.feeFixed;
  for (let round = 0; round < FEE_ROUNDS_MAX; round++) {
    const draft = draftOf(plan, payer, parameters, fee);
    const written = writeTransaction(draft);
    const needed = feeOf(written.tx.length, draft, plan, parameters);
    if (needed <= fee) {
      const { txBytesMax } = parameters;
      if (written.tx.length + signatureBytes(1) > txBytesMax) {
        throw new UnspentError(
          'LIMIT',
          `the transaction has ${written.tx.length} bytes, more than the ${txBytesMax} allowed: take fewer requests`,
        );
      }
      return { ...written, fee };
    }
    fee = needed;
  }
  throw new UnspentError('USAGE', 'the fee of the transaction does not settle');
}

function draftOf(plan: TransactionPlan, payer: Payer, parameters: ProtocolParameters, fee: bigint): TransactionToWrite {
  const scriptCount = plan.inputs.filter(({ redeemer }) => redeemer !== undefined).length + (plan.mint === undefined ? 0 : 1);
  const changeAt = (lovelace: bigint): OutputToWrite => ({ address: payer.address, lovelace });
  const changeMin = lovelaceMin(changeAt(0n), parameters);
  const coins = plan.seed === undefined ? [] : [plan.seed];
  const rest = payer.coins.filter((coin) => plan.seed === undefined || !sameRef(coin, plan.seed)).toSorted(largestFirst);
  const outputs = [...plan.outputs, ...outputOfRest(plan, payer, parameters)];
  const paid = sum(outputs) + fee;
  let change = sum(plan.inputs) + sum(coins) - paid;
  while (change < changeMin) {
    const coin = rest.shift();
    if (coin === undefined) throw tooPoor(payer, changeMin - change);
    coins.push(coin);
    change += coin.lovelace;
  }
  return {
    inputs: [...plan.inputs, ...coins],
    outputs: [...outputs, changeAt(change)],
    fee,
    validity: plan.validity ?? {},
    mint: plan.mint,
    collateral: scriptCount === 0 ? undefined : collateralOf(payer, parameters, fee, changeMin),
    signers: scriptCount === 0 ? [] : [payer.keyHash],
    references: plan.references ?? [],
    scripts: plan.scripts ?? [],
    units: plan.units ?? shareOf(parameters.txUnitsMax, scriptCount),
    costModel: parameters.costModels.get(PLUTUS_V3_LANGUAGE) ?? [],
  };
}

/** For the payer: assets that go in or are made, and that no output takes. */
function outputOfRest({ inputs, mint, outputs }: TransactionPlan, { address }: Payer, parameters: ProtocolParameters): OutputToWrite[] {
  const rest = new Map<string, Asset>();
  const count = ({ policy, name, quantity }: Asset, sign: bigint): void => {
    const key = `${toHex(policy)}.${toHex(name)}`;
    rest.set(key, { policy, name, quantity: (rest.get(key)?.quantity ?? 0n) + sign * quantity });
  };
  for (const asset of inputs.flatMap(({ assets }) => assets)) count(asset, 1n);
  if (mint !== undefined) count(mint.asset, 1n);
  for (const asset of outputs.flatMap(({ assets = [] }) => assets)) count(asset, -1n);
  const assets = [...rest.values()].filter(({ quantity }) => quantity !== 0n);
  if (assets.length === 0) return [];
  const output: OutputToWrite = { address, lovelace: 0n, assets };
  return [{ ...output, lovelace: lovelaceMin(output, parameters) }];
}

/** One coin: what of it is not wanted comes back. It may be an input, too: only one of the two is ever spent. */
function collateralOf(
  { address, coins }: Payer,
  parameters: ProtocolParameters,
  fee: bigint,
  changeMin: bigint,
): TransactionToWrite['collateral'] {
  const total = (fee * parameters.collateralPercent + 99n) / 100n;
  const [input] = coins.toSorted(largestFirst);
  if (input === undefined || input.lovelace < total)
    throw new UnspentError('USAGE', `the payer has no coin of ${total} lovelace for collateral`);
  const back = input.lovelace - total;
  return { input, total, change: back < changeMin ? null : { address, lovelace: back } };
}

function feeOf(bytes: number, { mint, inputs, units }: TransactionToWrite, plan: TransactionPlan, parameters: ProtocolParameters): bigint {
  const scripts = BigInt(inputs.filter(({ redeemer }) => redeemer !== undefined).length + (mint === undefined ? 0 : 1));
  const basis = {
    bytes: bytes + signatureBytes(1),
    units: { memory: scripts * units.memory, steps: scripts * units.steps },
    referenceScriptBytes: plan.referenceScriptBytes ?? 0,
  };
  return feeMin(basis, parameters);
}

function shareOf({ memory, steps }: ExecutionUnits, scripts: number): ExecutionUnits {
  const parts = BigInt(Math.max(1, scripts));
  return { memory: memory / parts, steps: steps / parts };
}

function largestFirst(a: Coin, b: Coin): number {
  return a.lovelace === b.lovelace ? 0 : a.lovelace > b.lovelace ? -1 : 1;
}

function sum(parts: readonly { readonly lovelace: bigint }[]): bigint {
  return parts.reduce((total, { lovelace }) => total + lovelace, 0n);
}

function tooPoor({ coins }: Payer, missing: bigint): UnspentError {
  assert(missing > 0n, 'something is missing');
  return new UnspentError('USAGE', `the payer has ${sum(coins)} lovelace in outputs that hold nothing else; ${missing} more are needed`);
}
