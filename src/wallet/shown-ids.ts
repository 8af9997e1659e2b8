/**
 * Ids in failures as people know them. Stores name transactions in the order of
 * the chain; commands and REST show them as the family writes them.
 */
import { fromHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import type { WalletNotation } from './documents.ts';

const ID = /[0-9a-f]{64}/g;

/** The same failure, with the ids that its particulars name written as the family does in its words. */
export function withShownIds(error: unknown, { formatId }: WalletNotation): unknown {
  if (!isUnspentError(error)) return error;
  const { code, message, meta, cause } = error;
  const named = [meta['txId'], meta['outpoint'], meta['hash']].flatMap((each) => (typeof each === 'string' ? (each.match(ID) ?? []) : []));
  if (named.length === 0) return error;
  const shown = named.reduce((text, id) => text.replaceAll(id, formatId(fromHex(id))), message);
  return shown === message ? error : new UnspentError(code, shown, meta, cause);
}
