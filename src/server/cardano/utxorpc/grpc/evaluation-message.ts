/** What the scripts of a transaction use, as UTxO RPC writes it. A script that fails is an answer, as from Dolos. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import { SCRIPT_PURPOSES, type ScriptUnits } from '../../../../evaluation/cardano/outcome.ts';
import type { DescribedHistoryTx } from '../../../../query/cardano/transactions.ts';
import { describeHistoryTx } from '../../../../query/cardano/transactions.ts';
import { isUnspentError } from '../../../../util/errors.ts';
import type { UtxoRpcBackend } from './backend.ts';
import type { MessageInit } from './message-init.ts';
import { redeemerMessage } from './tx-message.ts';

/** Throws USAGE, OUTPUT_UNKNOWN, and UNSUPPORTED where no node says its parameters or no machine is installed. */
export async function evaluationMessage(
  { evaluation }: UtxoRpcBackend,
  raw: Uint8Array,
  signal: AbortSignal,
): Promise<MessageInit<cardano.TxEval>> {
  try {
    const { scripts } = await evaluation.evaluate(raw, [], () => signal.aborted);
    // The evaluation has read it, so it is a transaction.
    const tx = describeHistoryTx({ id: new Uint8Array(0), raw });
    const exUnits = { memory: sum(scripts, 'memory'), steps: sum(scripts, 'steps') };
    return { fee: tx.body.fee, exUnits, redeemers: scripts.map((script) => unitsOf(script, tx)) };
  } catch (error) {
    if (!isUnspentError(error, 'SCRIPT_FAILED')) throw error;
    return { errors: [{ msg: error.message }] };
  }
}

/** The redeemer of the transaction, with the units that its script has used. */
function unitsOf({ purpose, index, units }: ScriptUnits, { redeemers }: DescribedHistoryTx): MessageInit<cardano.Redeemer> {
  const tag = SCRIPT_PURPOSES.indexOf(purpose);
  const given = redeemers.findLast((redeemer) => redeemer.tag === tag && redeemer.index === index);
  return { ...(given === undefined ? {} : redeemerMessage(given)), purpose: tag + 1, index, exUnits: units };
}

function sum(scripts: readonly ScriptUnits[], of: 'memory' | 'steps'): bigint {
  return scripts.reduce((total, { units }) => total + units[of], 0n);
}
