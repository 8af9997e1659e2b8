/**
 * For shapes that take apart what anybody may write into a transaction: bytes that
 * are right and that we do not read (nested too deeply, or of a kind that is not
 * known here) must not keep the rest of a block from being told.
 */
import { isUnspentError } from '../../util/errors.ts';

/** Null: the bytes of the chain are right, and outside of what we read. */
export function whereReadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID')) return null;
    throw error;
  }
}
