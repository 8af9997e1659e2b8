/**
 * Routes about blocks: by hash, by height, the newest, and what is in one. Only
 * blocks of our chain are known; one that was rolled back is not found.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { formatId, readExtra } from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { rawBlock } from '../../../query/bitcoin/raw-block.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import type { EsploraAnswers } from './answer.ts';
import { blockJson } from './block-json.ts';
import { hashOf, notFound, numberOf, wrong } from './parse.ts';
import { PAGE_TXS } from './scripts.ts';
import { confirmedTxs } from './txs.ts';

/** Blocks of a page. */
const PAGE_BLOCKS = 10;

const JSON_OF_CHAIN = { type: 'json', mempool: false } as const;
const TEXT = { type: 'text', mempool: false } as const;
const BYTES = { type: 'bytes', mempool: false } as const;

type Params = Readonly<Record<string, string>>;

export function registerBlocks(app: FastifyInstance, answers: EsploraAnswers): void {
  registerChain(app, answers);
  registerContents(app, answers);

  app.get('/block/:hash', (request, reply) => {
    const hash = hashIn(request);
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => JSON.stringify(blockJson(query, blockOf(query, hash))));
  });
  app.get('/block/:hash/header', (request, reply) => {
    const hash = hashIn(request);
    answers.give(request, reply, TEXT, ({ query }) => toHex(readExtra(blockOf(query, hash).extra).header));
  });
  app.get('/block/:hash/status', (request, reply) => {
    const hash = hashIn(request);
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => {
      const row = query.blockByHash(hash);
      const next = row === null ? null : query.blockAtHeight(row.height + 1);
      const nextBest = next === null ? null : formatId(next.hash);
      return JSON.stringify({ in_best_chain: row !== null, height: row?.height ?? null, next_best: nextBest });
    });
  });
}

/** The chain as a row of blocks. */
function registerChain(app: FastifyInstance, answers: EsploraAnswers): void {
  app.get('/block-height/:height', (request, reply) => {
    const height = numberOf((request.params as Params)['height']);
    answers.give(request, reply, TEXT, ({ query }) => formatId(found(query.blockAtHeight(height)).hash));
  });
  app.get('/blocks/tip/height', (request, reply) => {
    answers.give(request, reply, TEXT, ({ query }) => String(tipOf(query).height));
  });
  app.get('/blocks/tip/hash', (request, reply) => {
    answers.give(request, reply, TEXT, ({ query }) => formatId(tipOf(query).hash));
  });
  app.get('/blocks', (request, reply) => {
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => pageFrom(query, tipOf(query)));
  });
  app.get('/blocks/:start', (request, reply) => {
    const height = numberOf((request.params as Params)['start']);
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => pageFrom(query, found(query.blockAtHeight(height))));
  });
}

/** What needs the history. */
function registerContents(app: FastifyInstance, answers: EsploraAnswers): void {
  for (const path of ['/block/:hash/txs', '/block/:hash/txs/:start']) {
    app.get(path, (request, reply) => {
      const hash = hashIn(request);
      const start = numberOf((request.params as Params)['start'] ?? '0');
      if (start % PAGE_TXS !== 0) throw wrong(`start index must be a multiple of ${PAGE_TXS}`);
      answers.give(request, reply, JSON_OF_CHAIN, (read) => {
        const { height, txCount } = blockOf(read.query, hash);
        if (start >= txCount) throw wrong('start index out of range');
        const made = confirmedTxs(read, read.query.history().txs(height, start, PAGE_TXS));
        return made instanceof Promise ? made.then(listOf) : listOf(made);
      });
    });
  }
  app.get('/block/:hash/txids', (request, reply) => {
    const hash = hashIn(request);
    answers.give(request, reply, JSON_OF_CHAIN, ({ query }) => {
      const { height } = blockOf(query, hash);
      return JSON.stringify(query.history().ids(height).map(formatId));
    });
  });
  app.get('/block/:hash/txid/:index', (request, reply) => {
    const hash = hashIn(request);
    const index = numberOf((request.params as Params)['index']);
    answers.give(request, reply, TEXT, ({ query }) => {
      const row = blockOf(query, hash);
      const tx = index < row.txCount ? query.history().txAt(row.height, index) : null;
      if (tx === null) throw notFound('tx index out of range');
      return formatId(tx.id);
    });
  });
  app.get('/block/:hash/raw', (request, reply) => {
    const hash = hashIn(request);
    answers.give(request, reply, BYTES, ({ query }) => rawBlock(query, blockOf(query, hash)));
  });
}

function hashIn(request: FastifyRequest): Uint8Array {
  return hashOf((request.params as Params)['hash']);
}

function blockOf(query: Query, hash: Uint8Array): ChainRow {
  return found(query.blockByHash(hash));
}

function tipOf(query: Query): ChainRow {
  return found(query.head === null ? null : query.blockByHash(query.head.hash));
}

function found(row: ChainRow | null): ChainRow {
  if (row === null) throw notFound('Block not found');
  return row;
}

function listOf(rows: readonly string[]): string {
  return `[${rows.join(',')}]`;
}

/** Downwards from this one. */
function pageFrom(query: Query, newest: ChainRow): string {
  const blocks: object[] = [];
  for (let row: ChainRow | null = newest; row !== null && blocks.length < PAGE_BLOCKS; ) {
    blocks.push(blockJson(query, row));
    row = row.height === 0 ? null : query.blockAtHeight(row.height - 1);
  }
  return JSON.stringify(blocks);
}
