/**
 * How a read of the Esplora API is answered: at one point of the chain, which
 * the headers name, together with the mempool as it is at that moment. JSON,
 * plain text or bytes, as servers of this API do. A client that has the answer
 * already is told so; what is unconfirmed changes without a block, so such
 * answers are known by the state of the mempool too.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BitcoinNetwork, formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { Query } from '../../../query/query.ts';
import { ESPLORA_ROWS_WHOLE_MAX } from '../../../util/limits.ts';
import { etagOf, isFresh, MEDIA_TYPES } from '../../http/conditional.ts';
import { RowStream } from '../../http/rows.ts';
import type { Serving } from '../../http/serving.ts';
import type { Task } from '../../http/work/task.ts';

/** One look at the chain and at what is not in it yet. */
export interface EsploraLook {
  readonly query: Query;
  readonly mempool: Mempool;
  readonly network: BitcoinNetwork;
  /** The work of the request that asks. */
  readonly task: Task;
}

type Body = string | Uint8Array | Readable;
type Produce = (look: EsploraLook) => Body | Promise<Body>;

interface Manner {
  readonly type: 'json' | 'text' | 'bytes';
  /** Whether the answer is about the mempool too. */
  readonly mempool: boolean;
}

const TYPES = { json: MEDIA_TYPES.json, text: 'text/plain; charset=utf-8', bytes: 'application/octet-stream' } as const;

export class EsploraAnswers {
  readonly serving: Serving;
  readonly network: BitcoinNetwork;
  readonly mempool: Mempool;
  /** Tells the states of the mempool apart, those of another run of the server too. */
  readonly #run = Date.now().toString(36);
  #changes = 0;

  constructor(serving: Serving, network: BitcoinNetwork, mempool: Mempool) {
    this.serving = serving;
    this.network = network;
    this.mempool = mempool;
    mempool.onChange(() => {
      this.#changes++;
    });
  }

  give(request: FastifyRequest, reply: FastifyReply, manner: Manner, produce: Produce): void {
    const lease = this.serving.context.reads.lease();
    let body: Body | Promise<Body> | null = null;
    try {
      const { query } = lease;
      nameOn(reply, query.head);
      const etag = this.#etag(query.head, manner.mempool);
      reply.header('cache-control', 'no-cache').header('etag', etag);
      if (isFresh(request.headers['if-none-match'], etag)) reply.code(304).send();
      else body = produce({ query, mempool: this.mempool, network: this.network, task: request.task });
      if (isWhole(body)) reply.header('content-type', TYPES[manner.type]).send(body);
    } finally {
      // What takes longer releases it when it is done.
      if (body === null || isWhole(body)) lease.release();
    }
    if (body instanceof Readable) flow(body, reply, manner, () => lease.release());
    else if (body instanceof Promise) this.#later(body, reply, manner, () => lease.release());
  }

  /** A list: at once when it is short, else as a stream no faster than its reader. */
  rows<Row>(request: FastifyRequest, source: Iterable<Row>, encode: (row: Row) => string): string | Readable {
    const rows = source[Symbol.iterator]();
    const first: string[] = [];
    while (first.length < ESPLORA_ROWS_WHOLE_MAX) {
      const { done, value } = rows.next();
      if (done === true) return `[${first.join(',')}]`;
      first.push(encode(value));
    }
    // Nobody reads the body of a HEAD.
    if (request.method !== 'HEAD')
      return this.serving.stream(new RowStream(request.task, behind(first, rows, encode), undefined, (row) => row, 'json'));
    rows.return?.();
    return Readable.from([]);
  }

  #etag(head: Point | null, mempool: boolean): string {
    const hash = head === null ? null : formatId(head.hash);
    return etagOf(mempool ? `${hash ?? 'origin'}-${this.#run}-${this.#changes}` : hash, 'json');
  }

  #later(body: Promise<Body>, reply: FastifyReply, manner: Manner, release: () => void): void {
    body.then(
      (made) => {
        if (made instanceof Readable) return flow(made, reply, manner, release);
        release();
        reply.header('content-type', TYPES[manner.type]).send(made);
      },
      (error: Error) => {
        release();
        reply.send(error);
      },
    );
  }
}

/** What was made already, then the rest; closed with its reader. */
function* behind<Row>(first: readonly string[], rows: Iterator<Row>, encode: (row: Row) => string): Generator<string, void, void> {
  try {
    yield* first;
    for (let next = rows.next(); next.done !== true; next = rows.next()) yield encode(next.value);
  } finally {
    rows.return?.();
  }
}

function nameOn(reply: FastifyReply, head: Point | null): void {
  if (head !== null) reply.header('x-block-height', `${head.height}`).header('x-block-hash', formatId(head.hash));
}

function isWhole(body: Body | Promise<Body> | null): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** The snapshot stays as long as the stream does, and the stream no longer than its reader. */
function flow(body: Readable, reply: FastifyReply, manner: Manner, release: () => void): void {
  body.once('close', release);
  reply.raw.once('close', () => body.destroy());
  reply.header('content-type', TYPES[manner.type]).send(body);
}
