/**
 * Scripts of a partially signed transaction: those that its inputs spend, and
 * whether what stands behind their hashes is what they are hashes of. Outputs
 * that are a bare key or a bare multisig are checked here, because the library
 * refuses those as a whole, for want of an address, though it signs them.
 */
import { OutScript, type Transaction } from '@scure/btc-signer';
import { checkScript } from '@scure/btc-signer/payment.js';
import { normalizeInput } from '@scure/btc-signer/transaction.js';

export type LibraryInput = ReturnType<Transaction['getInput']>;

/** The output that it spends, as the PSBT says; null: it does not. */
export function spentOutput({ nonWitnessUtxo, witnessUtxo, index }: LibraryInput): { script: Uint8Array; amount: bigint } | null {
  const { script, amount } = (index === undefined ? undefined : nonWitnessUtxo?.outputs[index]) ?? witnessUtxo ?? {};
  return script === undefined || amount === undefined ? null : { script, amount };
}

/** Throws the library's own errors. */
export function checkScripts(tx: Transaction): void {
  for (let i = 0; i < tx.inputsLength; i++) checkInput(tx.getInput(i));
  for (let i = 0; i < tx.outputsLength; i++) {
    const { script, redeemScript, witnessScript } = tx.getOutput(i);
    if (script === undefined || !isBare(script)) checkScript(script, redeemScript, witnessScript);
    else checkAlone(redeemScript, witnessScript);
  }
}

/** The spent output stands for the transaction it is of, whose id was checked before. */
function checkInput(input: LibraryInput): void {
  const spent = spentOutput(input);
  if (spent === null) return;
  const { nonWitnessUtxo: _, ...rest } = input;
  if (isBare(spent.script)) checkAlone(input.redeemScript, input.witnessScript);
  else normalizeInput({ ...rest, witnessUtxo: spent }, undefined, undefined, false, 'ignore', 'ignore');
}

function isBare(script: Uint8Array): boolean {
  const { type } = OutScript.decode(script);
  return type === 'pk' || type === 'ms';
}

function checkAlone(...behind: readonly (Uint8Array | undefined)[]): void {
  if (behind.some((script) => script !== undefined)) throw new Error('a script that is no hash has none behind it');
}
