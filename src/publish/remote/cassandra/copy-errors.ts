/** Failures of Cassandra as readers of a copy have them. */
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { isNothingThere } from '../../cassandra/schema.ts';

export async function asCopyErrors<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isNothingThere(error)) throw new UnspentError('COPY_UNREADY', `nothing is published there: ${(error as Error).message}`, {}, error);
    if (isUnspentError(error, 'DATABASE_BUSY') || isUnspentError(error, 'DATABASE'))
      throw new UnspentError('COPY_UNREACHABLE', `the database of the copy: ${error.message}`, { reason: error.meta['reason'] }, error);
    throw error;
  }
}
