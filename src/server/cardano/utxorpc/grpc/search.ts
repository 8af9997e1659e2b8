/**
 * `SearchUtxos`: unspent outputs that a predicate holds for, in pages. Each way
 * to match (`predicate.ts`) is a lookup in an index; an output that several of
 * them lead to comes with the first. A page goes on where the last one ended,
 * for as long as its block is on the chain.
 */
import type { query as messages } from '@utxorpc/spec/lib/index.mjs';
import { indexLookup, type Matches, type MatchPattern, unspentMatches } from '../../../../query/cardano/matches.ts';
import { afterCursor, checkCursor, decodeCursor, encodeCursor, pageCursor } from '../../../../query/cursor.ts';
import type { Query } from '../../../../query/query.ts';
import type { IndexedUtxo, Utxo } from '../../../../query/utxo.ts';
import { assert, UnspentError } from '../../../../util/errors.ts';
import { UTXORPC_ITEMS_MAX } from '../../../../util/limits.ts';
import { takePage } from '../../../http/slices.ts';
import type { Task } from '../../../http/work/task.ts';
import type { UtxoRpcBackend } from './backend.ts';
import { alternatives, holds, matchesOutput, outputPatternOf, outputPatterns } from './predicate.ts';

interface FoundUtxo {
  /** By which of the ways it was found. */
  readonly way: number;
  readonly utxo: IndexedUtxo;
}

export interface UtxoPage<Made> {
  readonly utxos: readonly Made[];
  /** Empty: there are no more. */
  readonly nextToken: string;
}

/** Throws USAGE, LIMIT, CURSOR_STALE, and UNSUPPORTED where the store keeps no index for it. */
export async function searchUtxos<Made>(
  { traits }: UtxoRpcBackend,
  query: Query,
  task: Task,
  { predicate, maxItems, startToken }: messages.SearchUtxosRequest,
  make: (utxo: Utxo) => Made,
): Promise<UtxoPage<Made>> {
  if (maxItems < 0) throw new UnspentError('USAGE', 'max_items is not below 0', { field: 'max_items' });
  if (predicate === undefined) throw tooBroad();
  const ways = alternatives(predicate, (pattern) => outputPatterns(outputPatternOf(pattern) ?? {}));
  if (ways.some((patterns) => patterns.length === 0)) throw tooBroad();
  const search = new Search(query, ways, startToken, (patterns, after) => unspentMatches(query, traits, patterns, { order: 'asc', after }));
  const isWanted = (utxo: Utxo): boolean => holds(predicate, (pattern) => matchesOutput(outputPatternOf(pattern) ?? {}, utxo, traits));
  const { rows, last, isLast } = await takePage(
    task,
    search.rows(),
    {
      skip: 0,
      limit: maxItems === 0 ? UTXORPC_ITEMS_MAX : Math.min(maxItems, UTXORPC_ITEMS_MAX),
      accept: (found) => search.isFirst(found) && isWanted(found.utxo),
    },
    ({ utxo }) => make(utxo),
  );
  // Clients that say no number do not look for a next page.
  if (!isLast && maxItems === 0)
    throw new UnspentError('LIMIT', `more than ${UTXORPC_ITEMS_MAX} outputs: ask with max_items, page by page`, {
      limit: UTXORPC_ITEMS_MAX,
    });
  return { utxos: rows, nextToken: isLast || last === null ? '' : search.tokenAt(last) };
}

/** The lookups of one request, from where its token says. */
class Search {
  private readonly query: Query;
  private readonly ways: readonly (readonly MatchPattern[])[];
  private readonly matches: readonly Matches[];
  /** The way to begin with. */
  private readonly first: number;

  constructor(
    query: Query,
    ways: readonly (readonly MatchPattern[])[],
    token: string,
    matchesOf: (patterns: readonly MatchPattern[], after: Uint8Array | undefined) => Matches,
  ) {
    this.query = query;
    this.ways = ways;
    const start = token === '' ? null : this.startOf(token);
    this.first = start?.way ?? 0;
    this.matches = ways.map((patterns, way) => matchesOf(patterns, way === start?.way ? start.after : undefined));
  }

  *rows(): Generator<FoundUtxo, void, void> {
    for (let way = this.first; way < this.ways.length; way++) {
      // What is looked up in an index says where it stands there.
      for (const utxo of this.matches[way].rows as Iterable<IndexedUtxo>) yield { way, utxo };
    }
  }

  /** Whether no way before this one leads to it, and this one does. */
  isFirst({ way, utxo }: FoundUtxo): boolean {
    return this.matches[way].accept(utxo) && !this.matches.slice(0, way).some((before) => before.accept(utxo));
  }

  tokenAt({ way, utxo }: FoundUtxo): string {
    const { head } = this.query;
    assert(head !== null, 'a store with outputs has a block');
    return `${way}.${encodeCursor(pageCursor(this.lookup(way).kind, 'asc', utxo.cursor, head))}`;
  }

  private startOf(token: string): { readonly way: number; readonly after: Uint8Array } {
    const [, wayText, text] = /^(\d{1,4})\.([\w-]+)$/.exec(token) ?? [];
    const way = Number(wayText ?? Number.NaN);
    if (text === undefined || !(way < this.ways.length))
      throw new UnspentError('USAGE', 'start_token is none that a page of this question ended with', { field: 'start_token' });
    const cursor = decodeCursor(text);
    checkCursor(this.query, cursor);
    const { kind, key } = this.lookup(way);
    return { way, after: afterCursor(cursor, kind, 'asc', key) };
  }

  private lookup(way: number): NonNullable<ReturnType<typeof indexLookup>> {
    const lookup = indexLookup(this.query, this.ways[way]);
    assert(lookup !== null, 'each way to match has a pattern with an index');
    return lookup;
  }
}

function tooBroad(): UnspentError {
  const message = 'the predicate may hold for every output: in each way to match name an address, a part of one, a policy or an asset';
  return new UnspentError('USAGE', message, { field: 'predicate' });
}
