/**
 * Partially signed transactions (BIP174, BIP370, BIP371) as bytes, as base64 and
 * as the library's object. All others of the room take and give bytes. Whatever
 * the library throws about such bytes is PSBT_INVALID here.
 */
import { base64 } from '@scure/base';
import { Transaction, type TxOpts } from '@scure/btc-signer';
import { fromHex, hasPrefix, isHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { PSBT_BYTES_MAX } from '../../../util/limits.ts';
import { checkScripts } from './psbt-scripts.ts';

export type { Transaction } from '@scure/btc-signer';

/** `psbt` and 0xff. */
const MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff);

/** Fields that we do not know are passed on, as BIP174 asks. Signatures are made so that they have 71 bytes, not 71 or 72. */
const OPTIONS: TxOpts = {
  allowUnknownOutputs: true,
  allowUnknownVersion: true,
  unknown: 'ignore',
  proprietary: 'ignore',
  lowR: true,
  // `checkScripts` does that, and takes bare keys and bare multisigs, too.
  disableScriptCheck: true,
};

export function newTransaction(options: Pick<TxOpts, 'version' | 'lockTime' | 'PSBTVersion'>): Transaction {
  return guarded('the transaction', () => new Transaction({ ...OPTIONS, ...options }));
}

/** Throws PSBT_INVALID. */
export function readPsbt(bytes: Uint8Array): Transaction {
  checkForm(bytes);
  return guarded('the PSBT', () => {
    const tx = Transaction.fromPSBT(bytes, OPTIONS);
    checkScripts(tx);
    return tx;
  });
}

export function writePsbt(tx: Transaction): Uint8Array {
  return guarded('the PSBT', () => {
    checkScripts(tx);
    return tx.toPSBT();
  });
}

/** The bytes of a file, which has them as they are, in base64 or in hex. Throws PSBT_INVALID. */
export function parsePsbt(file: Uint8Array | string): Uint8Array {
  if (typeof file !== 'string' && hasPrefix(file, MAGIC)) return checkForm(file);
  if (file.length > 2 * PSBT_BYTES_MAX) throw tooLong(file.length);
  const text = (typeof file === 'string' ? file : new TextDecoder().decode(file)).trim();
  if (isHex(text)) return checkForm(fromHex(text));
  return checkForm(guarded('the base64', () => base64.decode(text)));
}

/** Base64, as programs hand it on. Throws PSBT_INVALID. */
export function formatPsbt(psbt: Uint8Array): string {
  return base64.encode(checkForm(psbt));
}

/** Runs what the library may refuse. */
export function guarded<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (isUnspentError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UnspentError('PSBT_INVALID', `${what} is not sound: ${reason.slice(0, 200)}`, {}, cause);
  }
}

function checkForm(bytes: Uint8Array): Uint8Array {
  if (bytes.length > PSBT_BYTES_MAX) throw tooLong(bytes.length);
  if (!hasPrefix(bytes, MAGIC))
    throw new UnspentError('PSBT_INVALID', 'a PSBT begins with the letters psbt: this is none, in bytes or in base64');
  return bytes;
}

function tooLong(bytes: number): UnspentError {
  return new UnspentError('PSBT_INVALID', `a PSBT has at most ${PSBT_BYTES_MAX} bytes`, { bytes });
}
