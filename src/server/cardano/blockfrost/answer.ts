/**
 * How a read of the Blockfrost API is answered: in JSON, from one query at the
 * newest block, which the headers name as everywhere on this server. Built on
 * `http/read-answer.ts`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needCardano } from '../../../families/cardano.ts';
import type { CardanoNetwork } from '../../../ledgers/cardano/index.ts';
import type { OutputTraits } from '../../../ledgers/ledger.ts';
import { type Dialect, hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import type { ServerContext } from '../../context.ts';
import { etagOf, MEDIA_TYPES } from '../../http/conditional.ts';
import { answerRead, isKnownTo, nameBlock, type ResponseBody, setValidator } from '../../http/read-answer.ts';
import type { ServerState } from '../../http/server-state.ts';

type Produced = object | string | null;

export class BlockfrostAnswers {
  readonly state: ServerState;
  readonly context: ServerContext;
  readonly network: CardanoNetwork;
  readonly dialect: Dialect;
  readonly traits: OutputTraits;
  /** For clients of Yaci, which want some statuses and fields otherwise. */
  readonly isYaci: boolean;

  constructor(state: ServerState, isYaci: boolean) {
    const { parameters, dialect, ledger } = needCardano(state.context.network, 'Blockfrost');
    if (ledger.traits === null) throw new UnspentError('UNSUPPORTED', 'outputs of this chain have no assets');
    this.state = state;
    this.context = state.context;
    this.network = parameters;
    this.dialect = dialect;
    this.traits = ledger.traits;
    this.isYaci = isYaci;
  }

  /** Answers with what is made of the newest query; a promise where that takes turns with others. */
  give(request: FastifyRequest, reply: FastifyReply, produce: (query: Query) => Produced | Promise<Produced>): void {
    answerRead(this.context.reads, reply, (query) => {
      const { head } = query;
      const block = head === null ? null : { height: `${head.height}`, slot: `${head.slot}`, hash: hexOf(head.hash) };
      nameBlock(reply, block);
      const etag = etagOf(block?.hash ?? null, 'json');
      setValidator(reply, etag);
      if (isKnownTo(request, etag)) return null;
      const made = produce(query);
      return { type: MEDIA_TYPES.json, body: made instanceof Promise ? made.then(textOf) : textOf(made) };
    });
  }

  /** For what is not from the store and may be another next time. */
  send(reply: FastifyReply, document: Produced, status = 200): FastifyReply {
    return reply.code(status).header('cache-control', 'no-store').header('content-type', MEDIA_TYPES.json).send(textOf(document));
  }
}

function textOf(document: Produced): ResponseBody {
  return JSON.stringify(document);
}

/** In the words that clients of Blockfrost know. */
export function notFound(what: string): UnspentError {
  return new UnspentError('NOT_FOUND', `The requested component has not been found: ${what}`);
}

/** For what Blockfrost answers and a store of unspent outputs cannot know. A 404 would say that there is none. */
export function notKept(what: string): UnspentError {
  return new UnspentError('UNSUPPORTED', what);
}

/** Throws UNSUPPORTED for bytes that have no such form: what anybody puts on the chain may be nested without end. */
export function asJson<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('UNSUPPORTED', `it cannot be written as JSON (${error.message}): ask for its CBOR`, {}, error);
  }
}
