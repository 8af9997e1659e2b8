/**
 * Pages as Blockfrost counts them: `count` rows at most (100 where nothing is
 * said), `page` from 1, `order` that of the chain or its reverse. A page behind
 * the last one is empty, which is how clients know that they have all.
 */
import type { FastifyRequest } from 'fastify';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { type GivenParameters, parameter, wrongParameter } from '../../http/parameters.ts';

/** What Blockfrost allows, and clients count on: fewer rows than asked for are the last ones. */
const COUNT_MAX = 100;

export interface NumberedPage {
  readonly limit: number;
  /** Rows before it. */
  readonly skip: number;
  readonly order: 'asc' | 'desc';
}

/** Throws USAGE. */
export function readPage({ query }: FastifyRequest): NumberedPage {
  const given = query as GivenParameters;
  const limit = wholeNumber(given, 'count', COUNT_MAX);
  const page = wholeNumber(given, 'page', 1);
  if (limit > COUNT_MAX) throw wrongParameter('count', `it is at most ${COUNT_MAX}`);
  return { limit, skip: (page - 1) * limit, order: orderOf(given) };
}

function wholeNumber(given: GivenParameters, name: string, fallback: number): number {
  const text = parameter(given, name);
  if (text === undefined) return fallback;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongParameter(name, 'it is a whole number from 1 on');
}

function orderOf(given: GivenParameters): 'asc' | 'desc' {
  const text = parameter(given, 'order') ?? 'asc';
  if (text === 'asc' || text === 'desc') return text;
  throw wrongParameter('order', 'it is asc or desc');
}

/** Of rows that are all at hand, in the order of the chain. */
export function cutPage<Row>(rows: readonly Row[], { limit, skip, order }: NumberedPage): readonly Row[] {
  return (order === 'asc' ? rows : rows.toReversed()).slice(skip, skip + limit);
}

/** The same for the pages of one list at one block, and for no other list. */
export function listName({ params, routeOptions, query: given }: FastifyRequest, { head }: Query, { limit, order }: NumberedPage): string {
  const { from, to } = given as GivenParameters;
  const block = head === null ? '' : hexOf(head.hash);
  return JSON.stringify([block, routeOptions.url, Object.values(params as object), limit, order, from, to]);
}
