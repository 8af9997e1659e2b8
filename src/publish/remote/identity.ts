/**
 * The identity of a published copy, as a reader takes it: what the publisher has
 * written beside the rows, checked before anything is read with it.
 */
import { UnspentError } from '../../util/errors.ts';
import { PUBLISHED_FORM, type PublishedIdentity } from '../identity.ts';

/** Throws COPY_UNREADY where it is not one, STORE_SCHEMA where this version does not read its rows. */
export function parseIdentity(document: string): PublishedIdentity {
  let found: Partial<PublishedIdentity>;
  try {
    found = JSON.parse(document) as Partial<PublishedIdentity>;
  } catch (error) {
    throw new UnspentError('COPY_UNREADY', 'the identity of the copy is not JSON', {}, error);
  }
  if (found.form !== PUBLISHED_FORM)
    throw new UnspentError('STORE_SCHEMA', `the copy has form ${found.form}, and this version reads form ${PUBLISHED_FORM}`);
  const isWhole =
    typeof found.network === 'string' &&
    typeof found.parameters === 'object' &&
    typeof found.settings === 'object' &&
    typeof found.windows?.rollbackWindow === 'number' &&
    Array.isArray(found.projections) &&
    Array.isArray(found.columns) &&
    found.columns.every(({ name, access }) => typeof name === 'string' && typeof access === 'string');
  if (!isWhole) throw new UnspentError('COPY_UNREADY', 'the identity of the copy lacks what it takes to read it');
  return found as PublishedIdentity;
}
