/**
 * What stands in a path, as the index keys and places it names. Whatever cannot
 * be one is USAGE, and says what was expected.
 */

import { parseUnit } from '../../ledgers/asset.ts';
import { KEY_BYTES } from '../../ledgers/ledger.ts';
import { type Outpoint, parseOutpoint } from '../../ledgers/outpoint.ts';
import { assetKey, datumKey } from '../../projections/index/by-key.ts';
import { credentialsOf, type Dialect, type NamedOwner } from '../../query/dialect.ts';
import type { Place } from '../../query/place.ts';
import { parsePlace } from '../../query/place.ts';
import { fromHex, isHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

const REWARD_ADDRESS_BYTES = 1 + KEY_BYTES;

/** Of text that a schema has found to be hex. The platform's own decoder: a path may be asked many times a second. */
export function hexBytes(text: string): Uint8Array {
  return Buffer.from(text, 'hex');
}

export function addressKey(text: string, dialect: Dialect): Uint8Array {
  return named('address', () => dialect.addressKey(text));
}

/** Of an address in whichever form, for the trees. */
export function addressOwner(text: string, dialect: Dialect): NamedOwner {
  return named('address', () => dialect.owner(text));
}

export function paymentKey(text: string, dialect: Dialect): Uint8Array {
  return named('credential', () => {
    const { hash, part } = credentialsOf(dialect).parse(text);
    if (part === 'stake') throw new UnspentError('USAGE', 'this is a stake credential; ask /stake/{stake}/utxos');
    return hash;
  });
}

/** Of a stake address (bech32 or hex) or of a credential. */
export function stakeKey(text: string, dialect: Dialect): Uint8Array {
  return named('stake', () => {
    const { parse, stakeIn } = credentialsOf(dialect);
    const stake = isHex(text, REWARD_ADDRESS_BYTES) ? stakeIn(fromHex(text)) : null;
    if (stake !== null) return stake;
    const { hash, part } = parse(text);
    if (part === 'payment') throw new UnspentError('USAGE', 'this is a payment credential; ask /credentials/{credential}/utxos');
    return hash;
  });
}

export function unitKey(text: string): Uint8Array {
  const { policy, name } = parseUnit(text);
  return assetKey(policy, name);
}

export function datumHashKey(text: string): Uint8Array {
  return datumKey(hexBytes(text));
}

/** Of an outpoint in the body of a request. */
export function outpointOf(text: string, { parseId }: Dialect): Outpoint {
  return named('body', () => parseOutpoint(text, parseId));
}

/** Of a block in a path a bare number is a height; in `at` it is a slot. */
export function parseBlock(text: string, { parseId }: Dialect): Place {
  return named('block', () => parsePlace(/^\d{1,15}$/.test(text) ? `height:${text}` : text, parseId));
}

/** Says which part of the path is meant. */
function named<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnspentError)) throw error;
    throw new UnspentError(error.code, error.message, { ...error.meta, field }, error);
  }
}
