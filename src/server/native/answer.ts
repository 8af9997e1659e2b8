/**
 * How a read of the native API is answered: in JSON or CBOR, at the newest
 * block or, with `?at=`, at an earlier one, and after waiting for a slot that is
 * still to come where `?min_slot=` asks for it. Built on `http/read-answer.ts`;
 * what all answers at one block have in common is made with the first of them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Point } from '../../ledgers/ledger.ts';
import type { Dialect } from '../../query/dialect.ts';
import { parsePlace, pointAt } from '../../query/place.ts';
import type { PastParts, Query } from '../../query/query.ts';
import { Recorder } from '../../query/recorder.ts';
import { Renderer } from '../../query/render.ts';
import type { ChainView } from '../../query/view.ts';
import { UnspentError } from '../../util/errors.ts';
import type { ServerContext } from '../context.ts';
import { etagOf, formOf, MEDIA_TYPES, type ResponseFormat } from '../http/conditional.ts';
import { answerRead, type BlockHeaders, isKnownTo, isWhole, nameBlock, type ResponseBody, setValidator } from '../http/read-answer.ts';
import { ResponseCache } from '../http/response-cache.ts';
import type { ServerState } from '../http/server-state.ts';
import type { Task } from '../http/work/task.ts';
import { PastMaker } from './past-maker.ts';
import type { MempoolParameter, ReadQuery, RowQuery } from './schemas.ts';
import { hasSlot, waitForSlot } from './wait.ts';

/** What a route reads from and writes with, at one block. */
export interface ReadContext {
  /** The store at its newest block. */
  readonly query: Query;
  /** The chain at the block of the answer: the newest one, or the one of `?at=`. */
  readonly view: ChainView;
  readonly renderer: Renderer;
  readonly recorder: Recorder;
  readonly dialect: Dialect;
  readonly form: ResponseFormat;
  /** The work of the request. */
  readonly task: Task;
}

export type Produce = (read: ReadContext) => ResponseBody | Promise<ResponseBody>;
export type PartsOf = (query: Query) => PastParts;

/** What all answers at one block have in common. */
interface PointContext {
  readonly query: Query;
  readonly point: Point | null;
  /** Whether the point is the newest one. */
  readonly present: boolean;
  readonly renderer: Renderer;
  readonly recorder: Recorder;
  readonly dialect: Dialect;
  /** Null: before the first block. */
  readonly headers: Required<BlockHeaders> | null;
  readonly etags: Readonly<Record<ResponseFormat, string>>;
}

export class NativeAnswers {
  readonly state: ServerState;
  readonly context: ServerContext;
  readonly #cache = new ResponseCache();
  readonly #pasts = new PastMaker();
  /** Of the query leased last. */
  #newest: PointContext | null = null;

  constructor(state: ServerState) {
    this.state = state;
    this.context = state.context;
  }

  /** Answers a read in JSON. `partsOf`: what of a past it takes besides the outputs. */
  give(request: FastifyRequest, reply: FastifyReply, produce: Produce, partsOf?: PartsOf): void {
    this.#begin(request, reply, 'json', produce, partsOf);
  }

  /** Answers a read in the form the client asks for. */
  giveRows(request: FastifyRequest, reply: FastifyReply, produce: Produce): void {
    reply.header('vary', 'accept');
    this.#begin(request, reply, formOf(request.headers.accept, (request.query as RowQuery).format), produce);
  }

  /** Names the newest block, for answers that are about more than the chain. */
  name(reply: FastifyReply): void {
    const lease = this.context.reads.lease();
    try {
      nameBlock(reply, this.#newestOf(lease.query).headers);
    } finally {
      lease.release();
    }
  }

  #begin(request: FastifyRequest, reply: FastifyReply, form: ResponseFormat, produce: Produce, partsOf?: PartsOf): void {
    const { min_slot: slot } = request.query as ReadQuery;
    const { reads, config } = this.context;
    if (slot === undefined || hasSlot(reads, slot)) {
      this.#answer(request, reply, form, produce, partsOf);
      return;
    }
    waitForSlot(reads, slot, reply, config.server.waitSecondsMax)
      .finally(() => this.name(reply))
      .then(() => this.#answer(request, reply, form, produce, partsOf))
      .catch((error: Error) => reply.send(error));
  }

  #answer(request: FastifyRequest, reply: FastifyReply, form: ResponseFormat, produce: Produce, partsOf?: PartsOf): void {
    answerRead(this.context.reads, reply, (query) => {
      const body = this.#body(request, reply, this.#newestOf(query), form, produce, partsOf);
      return body === null ? null : { type: MEDIA_TYPES[form], body };
    });
  }

  /** Null: the client has it already. */
  #body(
    request: FastifyRequest,
    reply: FastifyReply,
    newest: PointContext,
    form: ResponseFormat,
    produce: Produce,
    partsOf?: PartsOf,
  ): ResponseBody | Promise<ResponseBody> | null {
    // A failure from here on names the newest block too.
    nameBlock(reply, newest.headers);
    if ((request.query as MempoolParameter).include_mempool === true) {
      // It changes without a new block, so there is no validator for it, and it is never cached.
      reply.header('cache-control', 'no-store');
      return produce(this.#withMempool(request, newest, form));
    }
    const asked = pointContextAt(newest, (request.query as ReadQuery).at);
    const etag = asked.etags[form];
    const isPost = request.method === 'POST';
    const { url = '' } = request.raw;
    const fresh = !isPost && isKnownTo(request, etag);
    const cached = fresh || isPost ? undefined : this.#cache.get(form, url, reply);
    const isMade = fresh || cached !== undefined;
    const steps = isMade || asked.present ? null : asked.query.pastSteps(asked.point, partsOf?.(asked.query));
    if (asked !== newest) nameBlock(reply, asked.headers);
    setValidator(reply, etag);
    if (isMade) return cached ?? null;
    const make = (): ResponseBody | Promise<ResponseBody> => produce(readContextAt(asked, form, request.task));
    const failed = (error: unknown): never => {
      nameBlock(reply, newest.headers);
      throw error;
    };
    const body = steps === null ? make() : this.#pasts.make(request.task, steps).then(make).catch(failed);
    if (isPost) return body;
    const cache = <B extends ResponseBody>(made: B): B => {
      // If the store moved while the body was made, the cache was cleared and is of another block.
      const isCheap = steps === null && !request.task.isLong;
      if (isWhole(made) && this.#newest === newest) this.#cache.set(form, url, made, reply, isCheap);
      return made;
    };
    return body instanceof Promise ? body.then(cache) : cache(body);
  }

  /** Throws USAGE, and UNSUPPORTED where the mempool is not combined with the chain. */
  #withMempool(request: FastifyRequest, newest: PointContext, form: ResponseFormat): ReadContext {
    const field = 'include_mempool';
    if ((request.query as ReadQuery).at !== undefined)
      throw new UnspentError('USAGE', `${field} and at do not go together: a mempool is of the newest block`, { field });
    if (form === 'cbor')
      throw new UnspentError('USAGE', `${field} is answered in JSON: records are of outputs that are in a block`, { field });
    const { mempool, network } = this.context;
    if (mempool?.overlayAt === undefined)
      throw new UnspentError('UNSUPPORTED', `no mempool of '${network.name}' is combined with its outputs here`, { field });
    const { query } = newest;
    return { ...readContextAt(newest, form, request.task), view: query.pending(mempool.overlayAt(query)) };
  }

  #newestOf(query: Query): PointContext {
    if (this.#newest?.query === query) return this.#newest;
    const { dialect } = this.context.network;
    this.#cache.clear();
    const writers = { dialect, renderer: new Renderer(query, dialect), recorder: new Recorder(query, dialect) };
    this.#newest = pointContext(query, query.head, true, writers);
    return this.#newest;
  }
}

type Writers = Pick<ReadContext, 'renderer' | 'recorder' | 'dialect'>;

function pointContext(query: Query, point: Point | null, present: boolean, { renderer, recorder, dialect }: Writers): PointContext {
  const hash = point === null ? null : dialect.formatId(point.hash);
  const headers = point === null || hash === null ? null : { height: `${point.height}`, slot: `${point.slot}`, hash };
  const etags = { json: etagOf(hash, 'json'), cbor: etagOf(hash, 'cbor') };
  return { query, point, present, renderer, recorder, dialect, headers, etags };
}

/** At the block of `?at=`, or at the newest one without it. */
function pointContextAt(newest: PointContext, at: string | undefined): PointContext {
  if (at === undefined) return newest;
  const { query, headers, dialect } = newest;
  const point = pointAt(query, parsePlace(at, dialect.parseId), dialect);
  return point !== null && dialect.formatId(point.hash) === headers?.hash ? newest : pointContext(query, point, false, newest);
}

function readContextAt(
  { query, point, present, renderer, recorder, dialect }: PointContext,
  form: ResponseFormat,
  task: Task,
): ReadContext {
  return { query, view: present ? query : query.at(point), renderer, recorder, dialect, form, task };
}
