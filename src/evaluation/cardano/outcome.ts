/**
 * How the scripts of a transaction end: each within so many units, or one of
 * them fails, which fails the transaction.
 */
import type { ExecutionUnits } from '../../ledgers/cardano/protocol-parameters.ts';
import { UnspentError } from '../../util/errors.ts';

/** What a script runs for, in the order that redeemers number it. */
export const SCRIPT_PURPOSES = ['spend', 'mint', 'publish', 'withdraw', 'vote', 'propose'] as const;
export type ScriptPurpose = (typeof SCRIPT_PURPOSES)[number];

/** A script by what it runs for: the input, policy, certificate, withdrawal, vote or proposal of that number, in ledger order. */
export interface ScriptName {
  readonly purpose: ScriptPurpose;
  readonly index: number;
}

/** What a script has used. */
export interface ScriptUnits extends ScriptName {
  readonly units: ExecutionUnits;
}

/** Null: which script it was is not known. */
export function scriptFailed(script: ScriptName | null, reason: string, cause?: unknown): UnspentError {
  const who = script === null ? 'the scripts cannot be run' : `the script of ${script.purpose} ${script.index} fails`;
  return new UnspentError('SCRIPT_FAILED', `${who}: ${reason}`, { ...script, reason }, cause);
}
