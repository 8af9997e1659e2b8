/**
 * How a read of the Kupo API is answered: from one query at the newest block,
 * which the headers name as Kupo does (`X-Most-Recent-Checkpoint`, and an `ETag`
 * that is the block's hash and nothing else, because clients read the hash from
 * it) and as the rest of this server does. Built on `http/read-answer.ts`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Dialect, hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import type { ServerContext } from '../../context.ts';
import { answerRead, isKnownTo, nameBlock, type ResponseBody, setValidator } from '../../http/read-answer.ts';
import type { ServerState } from '../../http/server-state.ts';

const JSON_TYPE = 'application/json;charset=utf-8';

/** The parameter of the media type by which a client asks for quantities as strings. */
const STRING_QUANTITIES = 'asset-quantity=string';

export class KupoAnswers {
  readonly state: ServerState;
  readonly context: ServerContext;
  readonly dialect: Dialect;

  constructor(state: ServerState) {
    this.state = state;
    this.context = state.context;
    this.dialect = state.context.network.dialect;
  }

  give(request: FastifyRequest, reply: FastifyReply, produce: (query: Query) => ResponseBody | Promise<ResponseBody>): void {
    reply.header('vary', 'accept');
    answerRead(this.context.reads, reply, (query) => {
      const { head } = query;
      namePoint(reply, head);
      const etag = head === null ? null : hexOf(head.hash);
      if (etag !== null) setValidator(reply, etag);
      if (etag !== null && isHashKnownTo(request, etag)) return null;
      return { type: wantsStrings(request) ? `${JSON_TYPE};${STRING_QUANTITIES}` : JSON_TYPE, body: produce(query) };
    });
  }
}

/** Names the block of an answer, as Kupo does and as we do. */
export function namePoint(reply: FastifyReply, head: Query['head']): void {
  nameBlock(reply, head === null ? null : { height: `${head.height}`, slot: `${head.slot}`, hash: hexOf(head.hash) });
  reply.header('x-most-recent-checkpoint', `${head?.slot ?? 0}`);
}

export function wantsStrings({ headers }: FastifyRequest): boolean {
  return headers.accept?.replaceAll(' ', '').toLowerCase().includes(STRING_QUANTITIES) === true;
}

/** With or without the quotes that HTTP wants around a tag. */
function isHashKnownTo(request: FastifyRequest, hash: string): boolean {
  return isKnownTo(request, hash) || isKnownTo(request, `"${hash}"`);
}
