/**
 * Opens a copy by its URL. Drivers are optional packages: they are loaded here,
 * when a copy is opened, and asked for where they are missing.
 */
import { UnspentError } from '../util/errors.ts';
import { missingPackage } from '../util/missing-package.ts';
import type { PostgresTargetOptions } from './postgres/fenced-head.ts';
import type { PublishedStore } from './published-store.ts';
import type { CopyTarget } from './target.ts';

/** `postgres://...`. Nothing is connected before it is claimed. Throws USAGE, UNSUPPORTED. */
export async function openTarget(
  url: string,
  form: CopyTarget['form'],
  _store: PublishedStore,
  options: PostgresTargetOptions = {},
): Promise<CopyTarget> {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    const scheme = url.slice(0, url.indexOf(':') + 1) || url.slice(0, 20);
    throw new UnspentError('USAGE', `a copy is published to postgres://user@host/database?schema=NAME, not to '${scheme}'`);
  }
  if (form !== 'columns') throw new UnspentError('UNSUPPORTED', `a copy in PostgreSQL has the form columns, not '${form}'`);
  try {
    const { PostgresColumns } = await import('./postgres/columns-target.ts');
    return new PostgresColumns(url, options);
  } catch (error) {
    throw missingPackage(error, 'copies in PostgreSQL', ['kysely', 'pg']) ?? error;
  }
}
