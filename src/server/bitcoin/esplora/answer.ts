/**
 * How a read of the Esplora API is answered: at one point of the chain, which
 * the headers name, together with the mempool as it is at that moment. JSON,
 * plain text or bytes, as servers of this API do. A client that has the answer
 * already is told so; what is unconfirmed changes without a block, so such
 * answers are known by the state of the mempool too.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BitcoinNetwork, formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { Query } from '../../../query/query.ts';
import { etagOf, MEDIA_TYPES } from '../../http/conditional.ts';
import { listBody } from '../../http/list-body.ts';
import { answerRead, isKnownTo, nameBlock, type ResponseBody, setValidator } from '../../http/read-answer.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Task } from '../../http/work/task.ts';

/** What a route of Esplora reads from: the chain at its newest block, and the mempool. */
export interface EsploraRead {
  readonly query: Query;
  readonly mempool: Mempool;
  readonly network: BitcoinNetwork;
  /** The work of the request. */
  readonly task: Task;
}

type Produce = (read: EsploraRead) => ResponseBody | Promise<ResponseBody>;

interface Manner {
  readonly type: 'json' | 'text' | 'bytes';
  /** Whether the answer is about the mempool too. */
  readonly mempool: boolean;
}

const TYPES = { json: MEDIA_TYPES.json, text: 'text/plain; charset=utf-8', bytes: 'application/octet-stream' } as const;

export class EsploraAnswers {
  readonly state: ServerState;
  readonly network: BitcoinNetwork;
  readonly mempool: Mempool;
  /** Tells the states of the mempool apart, those of another run of the server too. */
  readonly #run = Date.now().toString(36);
  #changes = 0;

  constructor(state: ServerState, network: BitcoinNetwork, mempool: Mempool) {
    this.state = state;
    this.network = network;
    this.mempool = mempool;
    mempool.onChange(() => {
      this.#changes++;
    });
  }

  give(request: FastifyRequest, reply: FastifyReply, manner: Manner, produce: Produce): void {
    answerRead(this.state.context.reads, reply, (query) => {
      const { head } = query;
      nameBlock(reply, head === null ? null : { height: `${head.height}`, hash: formatId(head.hash) });
      const etag = this.#etag(head, manner.mempool);
      setValidator(reply, etag);
      if (isKnownTo(request, etag)) return null;
      const body = produce({ query, mempool: this.mempool, network: this.network, task: request.task });
      return { type: TYPES[manner.type], body };
    });
  }

  /** A list: at once when it is short, else as a stream no faster than its reader. */
  rows<Row extends object>(
    request: FastifyRequest,
    rows: Iterable<Row>,
    encode: (row: Row) => string,
  ): ResponseBody | Promise<ResponseBody> {
    return listBody(this.state, request, { rows, encode });
  }

  #etag(head: Point | null, mempool: boolean): string {
    const hash = head === null ? null : formatId(head.hash);
    return etagOf(mempool ? `${hash ?? 'origin'}-${this.#run}-${this.#changes}` : hash, 'json');
  }
}
