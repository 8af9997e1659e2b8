/**
 * From a URL to the copy it names. A new kind of database is a line here. Their
 * drivers are optional packages: each is loaded here, when a copy of its kind is
 * opened, and asked for where it is missing.
 */
import { UnspentError } from '../../util/errors.ts';
import { missingPackage } from '../../util/missing-package.ts';
import { withoutSecret } from '../../util/secret.ts';
import type { RemoteStore } from './contract.ts';

/** Nothing is connected before the first call. Throws USAGE, UNSUPPORTED. */
export async function openRemote(url: string): Promise<RemoteStore> {
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url);
  if (url.startsWith('cassandra:')) return openCassandra(url);
  throw new UnspentError('USAGE', `a published copy is postgres://... or cassandra://..., not '${withoutSecret(url).slice(0, 80)}'`);
}

async function openPostgres(url: string): Promise<RemoteStore> {
  try {
    const { PostgresCopy } = await import('./postgres/store.ts');
    return new PostgresCopy(url);
  } catch (error) {
    throw missingPackage(error, 'readers of a published copy', ['pg']) ?? error;
  }
}

async function openCassandra(url: string): Promise<RemoteStore> {
  try {
    const { CassandraCopy } = await import('./cassandra/store.ts');
    return new CassandraCopy(url);
  } catch (error) {
    throw missingPackage(error, 'readers of a published copy', ['cassandra-driver']) ?? error;
  }
}
