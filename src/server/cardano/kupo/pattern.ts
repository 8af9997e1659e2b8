/**
 * Patterns as Kupo writes them, into those of `query/cardano/matches.ts`:
 *
 *   *  and  * / *                any output; any of a Shelley address
 *   ADDRESS  STAKE_ADDRESS       bech32, hex or, of Byron, base58
 *   PAYMENT/DELEGATION           credentials, of which each may be *
 *   POLICY.NAME  POLICY.*        an asset; any asset of a policy
 *   INDEX@TX  *@TX               an output; all outputs of a transaction
 */
import { blake2b224 } from '../../../crypto/hash.ts';
import { ASSET_NAME_BYTES_MAX, POLICY_BYTES } from '../../../ledgers/asset.ts';
import { parseAddress, parseCredential, readAddress } from '../../../ledgers/cardano/index.ts';
import { parseOutputIndex, TXID_BYTES } from '../../../ledgers/outpoint.ts';
import type { MatchPattern } from '../../../query/cardano/matches.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { hexParameter } from '../../http/parameters.ts';

const WILDCARD = '*';

/** All patterns that an output must match to match the text. Throws USAGE. */
export function parsePattern(text: string): readonly MatchPattern[] {
  if (text === WILDCARD) return [{ kind: 'any', byron: true }];
  if (/^\{.*\}$/.test(text)) throw usage('outputs are not found by a metadata tag: in Kupo such a pattern is for indexing only', text);
  const [separator] = /[/@.]/.exec(text) ?? [];
  const parts = separator === undefined ? [] : text.split(separator);
  if (parts.length > 2) throw usage(`a pattern has two parts at most, this one ${parts.length}`, text);
  const [left, right] = parts;
  if (separator === '/') return credentials(left, right);
  if (separator === '@') return [outputReference(left, right)];
  if (separator === '.') return [assetPattern(left, right)];
  return [addressPattern(text)];
}

function addressPattern(text: string): MatchPattern {
  const bytes = parseAddress(text);
  const address = readAddress(bytes);
  if (address.kind === 'unknown') throw usage('this is no address', text);
  return address.kind === 'reward' ? { kind: 'stake', key: address.stake.hash } : { kind: 'address', key: blake2b224(bytes) };
}

function credentials(payment: string, delegation: string): readonly MatchPattern[] {
  const found: MatchPattern[] = [];
  if (payment !== WILDCARD) found.push({ kind: 'payment', key: parseCredential(payment).hash });
  if (delegation !== WILDCARD) found.push({ kind: 'stake', key: parseCredential(delegation).hash });
  return found.length === 0 ? [{ kind: 'any', byron: false }] : found;
}

function outputReference(index: string, tx: string): MatchPattern {
  const txId = hexParameter(tx, 'transaction id', TXID_BYTES);
  return index === WILDCARD ? { kind: 'transaction', txId } : { kind: 'output', txId, index: parseOutputIndex(index) };
}

function assetPattern(policyText: string, name: string): MatchPattern {
  const policy = hexParameter(policyText, 'policy id', POLICY_BYTES);
  return name === WILDCARD ? { kind: 'policy', policy } : { kind: 'asset', policy, name: parseAssetName(name) };
}

/** The empty name is one. */
export function parseAssetName(text: string): Uint8Array {
  if (text === '') return new Uint8Array(0);
  if (!isHex(text) || text.length > 2 * ASSET_NAME_BYTES_MAX)
    throw usage(`an asset name is hex of up to ${ASSET_NAME_BYTES_MAX} bytes`, text);
  return fromHex(text);
}

function usage(reason: string, text: string): UnspentError {
  return new UnspentError('USAGE', `${reason}, got '${text.slice(0, 120)}'`);
}
