/**
 * Partially signed transactions on their way to the network: signed with our own
 * keys, combined with what others signed, finalised, and extracted. Each step
 * takes bytes and gives new bytes.
 */
import { SigHash } from '@scure/btc-signer';
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { scriptKind } from './derived-script.ts';
import type { KeyOrigin } from './key-path.ts';
import type { KeyRing } from './key-ring.ts';
import { guarded, readPsbt, type Transaction, writePsbt } from './psbt-codec.ts';
import { isFinalInput, isSatisfied, type SigningPath, signingPaths } from './psbt-input.ts';
import { type LibraryInput, spentOutput } from './psbt-scripts.ts';

/** All of the transaction: a signature over less of it can be used for another one. */
const SIGHASHES = [SigHash.DEFAULT, SigHash.ALL];

export interface SignOptions {
  /**
   * Refuse inputs that come without the transaction they spend from, but for
   * taproot, which commits to all amounts. Default false: the signature of another
   * segwit input commits to its own amount, but whoever asks twice, with other
   * amounts for other inputs, can hide a fee.
   */
  readonly needsPreviousTxs?: boolean;
}

export interface SignedPsbt {
  readonly psbt: Uint8Array;
  /** Signatures that were added. */
  readonly signatures: number;
}

/** Signs what keys of the ring can sign. Throws PSBT_INVALID, also for a sighash that leaves a part of the transaction open. */
export function signPsbt(psbt: Uint8Array, ring: KeyRing, options: SignOptions = {}): SignedPsbt {
  const tx = readPsbt(psbt);
  let signatures = 0;
  for (let i = 0; i < tx.inputsLength; i++) signatures += signInput(tx, i, ring, options.needsPreviousTxs ?? false);
  return { psbt: signatures === 0 ? psbt : writePsbt(tx), signatures };
}

/** As many signatures as it needs, and no more: some programs refuse one too many. */
function signInput(tx: Transaction, i: number, ring: KeyRing, needsPreviousTxs: boolean): number {
  const input = tx.getInput(i);
  if (isFinalInput(input)) return 0;
  const before = signingPaths(input);
  let paths = before;
  for (const { key, origin } of signersLeft(before)) {
    if (paths.some(isSatisfied)) break;
    const secret = ring.find(origin, key);
    if (secret === null) continue;
    try {
      if (needsPreviousTxs && input.nonWitnessUtxo === undefined && !isTaproot(input)) {
        throw new UnspentError('PSBT_INVALID', `input ${i} comes without the transaction that it spends from`, { input: i });
      }
      guarded(`input ${i}`, () => tx.signIdx(secret, i, SIGHASHES));
    } finally {
      secret.fill(0);
    }
    paths = signingPaths(tx.getInput(i));
  }
  return signatureCount(paths) - signatureCount(before);
}

function isTaproot(input: LibraryInput): boolean {
  const spent = spentOutput(input);
  return spent !== null && scriptKind(spent.script, null) === 'p2tr';
}

/** Each key once that has not signed and says where it comes from. */
function signersLeft(paths: readonly SigningPath[]): { key: Uint8Array; origin: KeyOrigin }[] {
  const left = new Map<string, { key: Uint8Array; origin: KeyOrigin }>();
  for (const { key, origin, hasSigned } of paths.flatMap(({ signers }) => signers)) {
    if (!hasSigned && origin !== null) left.set(toHex(key), { key, origin });
  }
  return [...left.values()];
}

function signatureCount(paths: readonly SigningPath[]): number {
  return paths.reduce((sum, { signers }) => sum + signers.filter(({ hasSigned }) => hasSigned).length, 0);
}

/** Puts together what several signers added to the same transaction. Throws PSBT_INVALID. */
export function combinePsbts(psbts: readonly Uint8Array[]): Uint8Array {
  if (psbts.length === 0) throw new UnspentError('PSBT_INVALID', 'there is nothing to combine');
  const [first, ...others] = psbts.map(readPsbt);
  for (const other of others) guarded('what is combined', () => first.combine(other));
  return writePsbt(first);
}

export interface FinalisedPsbt {
  readonly psbt: Uint8Array;
  /** Inputs that signatures are missing of; none: the transaction can be extracted. */
  readonly incomplete: readonly number[];
}

/** Makes the final scripts of the inputs that have their signatures. Throws PSBT_INVALID. */
export function finalisePsbt(psbt: Uint8Array): FinalisedPsbt {
  const tx = readPsbt(psbt);
  const incomplete: number[] = [];
  for (let i = 0; i < tx.inputsLength; i++) {
    const input = tx.getInput(i);
    if (isFinalInput(input)) continue;
    if (signingPaths(input).some(isSatisfied)) guarded(`input ${i}`, () => tx.finalizeIdx(i));
    else incomplete.push(i);
  }
  return { psbt: writePsbt(tx), incomplete };
}

export interface ExtractedTx {
  /** As nodes take it. */
  readonly raw: Uint8Array;
  /** In the order of a block. */
  readonly txid: Uint8Array;
}

/** The transaction, of which all inputs are signed; they are finalised where they are not yet. Throws PSBT_INCOMPLETE, PSBT_INVALID. */
export function extractTx(psbt: Uint8Array): ExtractedTx {
  const final = finalisePsbt(psbt);
  if (final.incomplete.length > 0) {
    const message = `signatures are missing of ${final.incomplete.length === 1 ? 'input' : 'inputs'} ${final.incomplete.slice(0, 20).join(', ')}`;
    throw new UnspentError('PSBT_INCOMPLETE', message, { inputs: final.incomplete });
  }
  const tx = readPsbt(final.psbt);
  checkSpentOutputs(tx);
  return guarded('the transaction', () => ({ raw: tx.extract(), txid: fromHex(tx.id).reverse() }));
}

/** Without the spent outputs nobody can tell what fee it pays. */
function checkSpentOutputs(tx: Transaction): void {
  for (let i = 0; i < tx.inputsLength; i++) {
    const input = tx.getInput(i);
    if (spentOutput(input) !== null) continue;
    const name = input.txid === undefined ? '' : ` ${formatId(input.txid.toReversed())}:${input.index}`;
    throw new UnspentError('PSBT_INVALID', `the output that input ${i} spends is not in the PSBT:${name}`, { input: i });
  }
}
