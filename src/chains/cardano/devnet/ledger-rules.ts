/**
 * What the devnet's ledger asks of a transaction from outside: whatever can be
 * told without running scripts. Its inputs are unspent, it is in its time, value
 * is conserved, fee, collateral and outputs are large enough, and those have
 * signed who must.
 *
 * Not checked: scripts (they are not run, and `valid` is believed), datums, the
 * hash of script data, certificates and their deposits. The devnet's own people
 * have no keys, so nobody needs to sign for what is theirs; nor are signatures of
 * Byron addresses looked at.
 */
import { readAddress } from '../../../ledgers/cardano/address.ts';
import { describeOutput, readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { feeMin, outputLovelaceMin } from '../../../ledgers/cardano/fee.ts';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { fromHex, toHex } from '../../../util/bytes.ts';
import type { Assets, ModelUtxo } from './model.ts';
import { encodeConwayParameters } from './parameters.ts';
import { assetsOf, refKey, type SubmittedTx } from './submitted.ts';
import { signersOf } from './witness-set.ts';

const PARAMETERS = decodeProtocolParameters(encodeConwayParameters());
const NO_UNITS = { memory: 0n, steps: 0n };

/** What a rule sees of an unspent output. */
export type Coin = Pick<ModelUtxo, 'lovelace' | 'assets' | 'addressHex' | 'output' | 'foreign'>;

/** What a transaction meets: outputs that can be spent, and the slot of its block. */
export interface LedgerMoment {
  readonly slot: number;
  find(key: string): Coin | undefined;
}

/** Null: the transaction keeps the rules. Else the first that it breaks, in words. */
export function brokenRule(tx: SubmittedTx, moment: LedgerMoment): string | null {
  return (
    wrongTime(tx, moment) ??
    wrongInputs(tx, moment) ??
    unsigned(tx, moment) ??
    tooCheap(tx, moment) ??
    tooLittleCollateral(tx, moment) ??
    tooSmallOutput(tx) ??
    unbalanced(tx, moment)
  );
}

function wrongTime({ described: { validFrom, validUntil } }: SubmittedTx, { slot }: LedgerMoment): string | null {
  if (validFrom !== null && slot < validFrom) return `it is valid from slot ${validFrom} on, and this is slot ${slot}`;
  if (validUntil !== null && slot >= validUntil) return `it is valid before slot ${validUntil} only, and this is slot ${slot}`;
  return null;
}

function wrongInputs({ described, valid }: SubmittedTx, { find }: LedgerMoment): string | null {
  const { inputs, collateral, referenceInputs } = described;
  if (inputs.length === 0) return 'the transaction has no inputs';
  if (!valid && collateral.length === 0) return 'the transaction is phase-2 invalid and has no collateral';
  for (const refs of [inputs, collateral, referenceInputs]) {
    const keys = refs.map(refKey);
    const missing = keys.find((key) => find(key) === undefined);
    if (missing !== undefined) return `${missing} is not unspent`;
    const twice = keys.find((key, i) => keys.indexOf(key) !== i);
    if (twice !== undefined) return `${twice} is named twice`;
  }
  return null;
}

function unsigned({ described, witnessSet }: SubmittedTx, { find }: LedgerMoment): string | null {
  const signers = signersOf(described.id, witnessSet.signatures);
  if (signers === null) return 'a signature is not that of its key';
  const wanted = described.requiredSigners.map((hash) => toHex(hash));
  for (const ref of [...described.inputs, ...described.collateral]) {
    const { addressHex, foreign } = find(refKey(ref))!;
    const payment = foreign === true ? readAddress(fromHex(addressHex)).payment : null;
    if (payment?.kind === 'key') wanted.push(toHex(payment.hash));
  }
  const missing = wanted.find((hash) => !signers.has(hash));
  return missing === undefined ? null : `the key ${missing} has not signed`;
}

function tooCheap({ described, witnessSet, tx }: SubmittedTx, { find }: LedgerMoment): string | null {
  let referenceScriptBytes = 0;
  for (const ref of [...described.inputs, ...described.referenceInputs]) {
    const { scriptRef } = describeOutput(find(refKey(ref))!.output);
    if (scriptRef !== null) referenceScriptBytes += readScriptRef(scriptRef).script.length;
  }
  const least = feeMin({ bytes: tx.length, units: witnessSet.units ?? NO_UNITS, referenceScriptBytes }, PARAMETERS);
  return described.fee < least ? `the fee is ${described.fee} lovelace, less than ${least}` : null;
}

function tooLittleCollateral({ described, witnessSet }: SubmittedTx, { find }: LedgerMoment): string | null {
  if (witnessSet.units === null) return null;
  const { collateral, collateralReturn, totalCollateral, fee } = described;
  const given = collateral.reduce((sum, ref) => sum + find(refKey(ref))!.lovelace, 0n) - (collateralReturn?.lovelace ?? 0n);
  if (totalCollateral !== null && totalCollateral !== given) return `the collateral is ${given} lovelace, not ${totalCollateral}`;
  const least = (fee * PARAMETERS.collateralPercent + 99n) / 100n;
  return given < least ? `the collateral is ${given} lovelace, less than ${least}` : null;
}

function tooSmallOutput({ described: { outputs, collateralReturn } }: SubmittedTx): string | null {
  for (const { index, lovelace, start, end } of [...outputs, ...(collateralReturn === null ? [] : [collateralReturn])]) {
    const least = outputLovelaceMin(end - start, PARAMETERS);
    if (lovelace < least) return `output ${index} has ${lovelace} lovelace, less than ${least}`;
  }
  return null;
}

/** Deposits and refunds would need a ledger: with certificates, withdrawals or proposals the sum is not checked. */
function unbalanced({ described, mint, valid }: SubmittedTx, { find }: LedgerMoment): string | null {
  const { inputs, outputs, fee, donation, certificates, withdrawals, proposals } = described;
  if (!valid || certificates.length + withdrawals.length + proposals.length > 0) return null;
  const coins = inputs.map((ref) => find(refKey(ref))!);
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
