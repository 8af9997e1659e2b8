/**
 * Labels as lines of text (BIP329): one JSON document a line, of a transaction, an
 * address, a public key, an input, an output, or an extended public key. What a
 * line says that is not known here is kept with it, and told again.
 */
import { OUTPUT_INDEX_MAX } from '../ledgers/outpoint.ts';
import { isHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { WALLET_LABEL_CHARS_MAX } from '../util/limits.ts';
import type { WalletNotation } from './documents.ts';
import { LABEL_TYPES, type LabelType, type WalletLabel } from './label-records.ts';

/** The position of a line in its file, for whoever looks for what is wrong with it. */
interface LabelLine {
  readonly text: string;
  readonly number: number;
}

/** `isForeign`: whether labels with that origin are of another wallet. Throws USAGE with the number of the line. */
export function readLabel({ text, number }: LabelLine, notation: WalletNotation, isForeign: (origin: string) => boolean): WalletLabel {
  const wrong = (why: string): UnspentError => new UnspentError('USAGE', `line ${number} is no label of BIP329: ${why}`, { line: number });
  if (text.length > WALLET_LABEL_CHARS_MAX) throw wrong(`it has more than ${WALLET_LABEL_CHARS_MAX} characters`);
  const { type, ref, label, origin = '', spendable, ...others } = documentOf(text, wrong);
  if (!isLabelType(type)) throw wrong(`its type is none of ${LABEL_TYPES.join(', ')}`);
  if (typeof ref !== 'string' || (label !== undefined && typeof label !== 'string')) throw wrong('ref and label are texts');
  if (typeof origin !== 'string') throw wrong('origin is a text');
  const flag = readFlag(spendable);
  if (flag === undefined || (flag !== null && type !== 'output')) throw wrong('spendable is true or false, of an output');
  return {
    type,
    ...namedBy(type, ref, notation, wrong),
    origin,
    label: label ?? null,
    spendable: flag,
    others: JSON.stringify(others),
    isForeign: origin !== '' && isForeign(origin),
  };
}

/** `label` and `spendable` as they are now, whatever was told once. */
export function labelText({ type, ref, origin, others }: WalletLabel, label: string | null, spendable: boolean | null): string {
  return JSON.stringify({
    type,
    ref,
    ...(label === null ? {} : { label }),
    ...(origin === '' ? {} : { origin }),
    ...(spendable === null ? {} : { spendable }),
    ...(JSON.parse(others) as object),
  });
}

function documentOf(text: string, wrong: (why: string) => UnspentError): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong('it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is no object');
  return value as Record<string, unknown>;
}

function isLabelType(type: unknown): type is LabelType {
  return (LABEL_TYPES as readonly unknown[]).includes(type);
}

/** Some wallets write it as a text. Null: it is not said; undefined: it is neither. */
function readFlag(value: unknown): boolean | null | undefined {
  if (value === undefined || value === null) return null;
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
}

/** What it is of, in one form: ids in small letters. */
function namedBy(
  type: LabelType,
  ref: string,
  notation: WalletNotation,
  wrong: (why: string) => UnspentError,
): Pick<WalletLabel, 'ref' | 'txId' | 'index'> {
  if (type === 'tx') {
    if (!isHex(ref, 32)) throw wrong('the ref of a transaction is its id');
    return { ref: ref.toLowerCase(), txId: parsedId(ref, notation, wrong), index: null };
  }
  if (type !== 'input' && type !== 'output') {
    if (!/^[\x21-\x7e]{1,1000}$/.test(ref)) throw wrong('ref is a text of at most 1000 characters, without spaces');
    return { ref, txId: null, index: null };
  }
  const [, id = '', digits = ''] = /^([0-9a-fA-F]{64}):(\d{1,10})$/.exec(ref) ?? [];
  const index = Number(digits);
  if (id === '' || index > OUTPUT_INDEX_MAX) throw wrong('the ref of an input or output is an id and an index, with a colon between');
  return { ref: `${id.toLowerCase()}:${index}`, txId: parsedId(id, notation, wrong), index };
}

function parsedId(text: string, { parseId }: WalletNotation, wrong: (why: string) => UnspentError): Uint8Array {
  try {
    return parseId(text.toLowerCase());
  } catch (error) {
    if (isUnspentError(error)) throw wrong(error.message);
    throw error;
  }
}
