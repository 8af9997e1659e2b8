/**
 * Ids in failures as people know them. Stores name transactions in the order of
 * the chain; commands and REST show them from the last byte to the first.
 */
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';

const ID = /[0-9a-f]{64}/g;

/** The same failure, with the ids that its particulars name turned around in its words. */
export function withShownIds(error: unknown): unknown {
  if (!isUnspentError(error)) return error;
  const { code, message, meta, cause } = error;
  const named = [meta['txId'], meta['outpoint'], meta['hash']].flatMap((each) => (typeof each === 'string' ? (each.match(ID) ?? []) : []));
  if (named.length === 0) return error;
  const turned = named.reduce((text, id) => text.replaceAll(id, formatId(fromHex(id))), message);
  return turned === message ? error : new UnspentError(code, turned, meta, cause);
}
