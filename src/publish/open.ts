/**
 * Opens a copy by its URL. Drivers are optional packages: they are loaded here,
 * when a copy is opened, and asked for where they are missing.
 */
import { UnspentError } from '../util/errors.ts';
import { missingPackage } from '../util/missing-package.ts';
import type { PublishedStore } from './published-store.ts';
import type { CopyTarget } from './target.ts';

/** What tests look in with, at either kind of database. */
export interface TargetOptions {
  /** Awaited before each statement. */
  readonly beforeStatement?: ((text: string) => void | Promise<void>) | undefined;
  /** In Cassandra, told of each compare-and-set that was answered; what it throws comes in the place of the answer. */
  readonly afterCompareAndSet?: ((text: string) => void) | undefined;
  /** The name of this publisher in the head; default: host, process and a number by chance. */
  readonly publisher?: string | undefined;
  /** In PostgreSQL, milliseconds for which tables that were replaced stay; default: PUBLISH_GRACE_MS. */
  readonly graceMs?: number | undefined;
}

/** `postgres://...`, `cassandra://...`. Nothing is connected before it is claimed. Throws USAGE, UNSUPPORTED. */
export async function openTarget(
  url: string,
  form: CopyTarget['form'],
  store: PublishedStore,
  options: TargetOptions = {},
): Promise<CopyTarget> {
  const scheme = url.slice(0, url.indexOf(':') + 1);
  const kind = /^postgres(ql)?:$/.test(scheme) ? 'PostgreSQL' : scheme === 'cassandra:' ? 'Cassandra' : null;
  if (kind === null) {
    const wanted = 'postgres://user@host/database?schema=NAME or cassandra://user@host,host/keyspace';
    throw new UnspentError('USAGE', `a copy is published to ${wanted}, not to '${scheme || url.slice(0, 20)}'`);
  }
  if (kind === 'PostgreSQL') return openPostgres(url, form, store, options);
  if (form !== 'columns') throw new UnspentError('UNSUPPORTED', `a copy in ${kind} has the form columns, not '${form}'`);
  return openCassandra(url, options);
}

async function openPostgres(url: string, form: CopyTarget['form'], store: PublishedStore, options: TargetOptions): Promise<CopyTarget> {
  try {
    if (form === 'sql') {
      const { PostgresSql } = await import('./postgres/sql/sql-target.ts');
      return new PostgresSql(url, store, options);
    }
    const { PostgresColumns } = await import('./postgres/columns-target.ts');
    return new PostgresColumns(url, options);
  } catch (error) {
    throw missingPackage(error, 'copies in PostgreSQL', ['kysely', 'pg']) ?? error;
  }
}

async function openCassandra(url: string, options: TargetOptions): Promise<CopyTarget> {
  try {
    const { CassandraColumns } = await import('./cassandra/columns-target.ts');
    return new CassandraColumns(url, options);
  } catch (error) {
    throw missingPackage(error, 'copies in Cassandra', ['cassandra-driver']) ?? error;
  }
}
