/**
 * What the query commands share: a look at the store that is pinned to one
 * point of the chain, and how things are named on the command line.
 */

import type { Network } from '../families/family.ts';
import { credentialsOf, type Dialect } from '../query/dialect.ts';
import { parsePlace, pointAt } from '../query/place.ts';
import type { Query } from '../query/query.ts';
import { Renderer, renderPoint } from '../query/render.ts';
import type { ChainView } from '../query/view.ts';
import { UnspentError } from '../util/errors.ts';
import type { Context } from './context.ts';
import { pointText } from './format.ts';

export interface QueryRead {
  /** The present: blocks, datums and scripts. */
  readonly query: Query;
  /** The present, or what `--at` names. */
  readonly view: ChainView;
  readonly renderer: Renderer;
  readonly network: Network;
  readonly dialect: Dialect;
  /** Names of what the store keeps. */
  readonly projections: readonly string[];
}

/** A body over one pinned query. */
export function withQuery(context: Context, body: (look: QueryRead) => void | Promise<void>): Promise<void> {
  const { at } = context.options;
  // A mistyped place is a usage error, whatever the store is like.
  if (at !== undefined) parsePlace(at);
  return context.askStore(async (store) => {
    const query = store.query();
    try {
      const { network } = store;
      const { dialect } = network;
      const view = at === undefined ? query : query.at(pointAt(query, parsePlace(at, dialect.parseId), dialect));
      const projections = store.fold.projections.map(({ name }) => name);
      await body({ query, view, renderer: new Renderer(query, dialect), network, dialect, projections });
    } finally {
      query.release();
    }
  });
}

export function notFound(what: string, { head }: ChainView, dialect: Dialect): UnspentError {
  return new UnspentError('NOT_FOUND', `${what}; read at ${pointText(head, dialect)}`, { point: renderPoint(head, dialect) });
}

/** Of a script: 28 bytes of hex, or script1... */
export function parseScriptHash(text: string, dialect: Dialect): Uint8Array {
  const { hash, kind } = credentialsOf(dialect).parse(text);
  if (kind === 'key') throw new UnspentError('USAGE', `'${text.slice(0, 80)}' is the hash of a key, not of a script`);
  return hash;
}
