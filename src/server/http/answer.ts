/**
 * How a read is answered: at one point, which the headers name, from the query
 * that everybody shares while the store does not move. A client that has the
 * answer already is told so before any work is done. What is the same for every
 * answer at a point is made once, when the first one asks.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Point } from '../../ledgers/ledger.ts';
import type { Dialect } from '../../query/dialect.ts';
import { parsePlace, pointAt } from '../../query/place.ts';
import type { PastParts, Query } from '../../query/query.ts';
import { Recorder } from '../../query/recorder.ts';
import { Renderer } from '../../query/render.ts';
import type { ChainView } from '../../query/view.ts';
import type { Lease, ServerContext } from '../context.ts';
import type { ReadQuery, RowQuery } from '../native/schemas.ts';
import { etagOf, type Form, formOf, isFresh, MEDIA_TYPES } from './conditional.ts';
import { PastMaker } from './past-maker.ts';
import { Remembered } from './remembered.ts';
import { hasSlot, waitForSlot } from './wait.ts';
import type { Task } from './work/task.ts';

/** One look at the chain, at one point of it. */
export interface Look {
  /** The present: blocks, and what is not asked of the past. */
  readonly query: Query;
  /** The present, or the past that was asked for. */
  readonly view: ChainView;
  readonly renderer: Renderer;
  readonly recorder: Recorder;
  readonly dialect: Dialect;
  readonly form: Form;
  /** The work of the request that asks. */
  readonly task: Task;
}

export type Body = string | Uint8Array | Readable;
export type Produce = (look: Look) => Body | Promise<Body>;
export type PartsOf = (query: Query) => PastParts;

/** What all answers at one point have in common. */
interface Stamp {
  readonly query: Query;
  readonly point: Point | null;
  /** Whether the point is the newest one. */
  readonly present: boolean;
  readonly renderer: Renderer;
  readonly recorder: Recorder;
  readonly dialect: Dialect;
  readonly height: string;
  readonly slot: string;
  /** Null: before the first block. */
  readonly hash: string | null;
  readonly etags: Readonly<Record<Form, string>>;
}

export class Answers {
  readonly #context: ServerContext;
  readonly #remembered = new Remembered();
  readonly #pasts = new PastMaker();
  /** Of the query leased last. */
  #stamp: Stamp | null = null;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Answers a read in JSON. `partsOf`: what of a past it takes besides the outputs. */
  give(request: FastifyRequest, reply: FastifyReply, produce: Produce, partsOf?: PartsOf): void {
    this.#begin(request, reply, 'json', produce, partsOf);
  }

  /** Answers a read in the form the caller wants. */
  giveRows(request: FastifyRequest, reply: FastifyReply, produce: Produce): void {
    reply.header('vary', 'accept');
    this.#begin(request, reply, formOf(request.headers.accept, (request.query as RowQuery).format), produce);
  }

  /** Names the present point, for answers that are about more than the chain. */
  name(reply: FastifyReply): void {
    const lease = this.#context.reads.lease();
    try {
      nameOn(reply, this.#stampOf(lease.query));
    } finally {
      lease.release();
    }
  }

  #begin(request: FastifyRequest, reply: FastifyReply, form: Form, produce: Produce, partsOf?: PartsOf): void {
    const { min_slot: slot } = request.query as ReadQuery;
    const { reads, config } = this.#context;
    if (slot === undefined || hasSlot(reads, slot)) {
      this.#answer(request, reply, form, produce, partsOf);
      return;
    }
    waitForSlot(reads, slot, reply, config.server.waitSecondsMax)
      .finally(() => this.name(reply))
      .then(() => this.#answer(request, reply, form, produce, partsOf))
      .catch((error: Error) => reply.send(error));
  }

  #answer(request: FastifyRequest, reply: FastifyReply, form: Form, produce: Produce, partsOf?: PartsOf): void {
    const lease = this.#context.reads.lease();
    let body: Body | Promise<Body> | null = null;
    try {
      body = this.#body(request, reply, this.#stampOf(lease.query), form, produce, partsOf);
      if (body === null) reply.code(304).send();
      else if (isWhole(body)) reply.header('content-type', MEDIA_TYPES[form]).send(body);
    } finally {
      // What takes longer releases it when it is done.
      if (body === null || isWhole(body)) lease.release();
    }
    if (body instanceof Promise) later(body, lease, reply, form);
    else if (body instanceof Readable) flow(body, lease, reply, form);
  }

  /** Null: the client has it already. */
  #body(
    request: FastifyRequest,
    reply: FastifyReply,
    present: Stamp,
    form: Form,
    produce: Produce,
    partsOf?: PartsOf,
  ): Body | Promise<Body> | null {
    // Also what goes wrong from here on is said of a point.
    nameOn(reply, present);
    const stamp = stampAt(present, (request.query as ReadQuery).at);
    const isPost = request.method === 'POST';
    const name = `${form} ${request.raw.url}`;
    const fresh = !isPost && isFresh(request.headers['if-none-match'], stamp.etags[form]);
    const known = fresh || isPost ? undefined : this.#remembered.take(name, reply);
    const isKnown = fresh || known !== undefined;
    const steps = isKnown || stamp.present ? null : stamp.query.pastSteps(stamp.point, partsOf?.(stamp.query));
    if (stamp !== present) nameOn(reply, stamp);
    reply.header('etag', stamp.etags[form]).header('cache-control', 'no-cache');
    if (isKnown) return known ?? null;
    const make = (): Body | Promise<Body> => produce(lookAt(stamp, form, request.task));
    const failed = (error: unknown): never => {
      nameOn(reply, present);
      throw error;
    };
    const body = steps === null ? make() : this.#pasts.make(request.task, steps).then(make).catch(failed);
    if (isPost) return body;
    const keep = <B extends Body>(made: B): B => {
      // What took longer may be of a point that was left meanwhile.
      if (isWhole(made) && this.#stamp === present) this.#remembered.keep(name, made, reply);
      return made;
    };
    return body instanceof Promise ? body.then(keep) : keep(body);
  }

  #stampOf(query: Query): Stamp {
    if (this.#stamp?.query === query) return this.#stamp;
    const { dialect } = this.#context.network;
    this.#remembered.forget();
    const writers = { dialect, renderer: new Renderer(query, dialect), recorder: new Recorder(query, dialect) };
    this.#stamp = stamp(query, query.head, true, writers);
    return this.#stamp;
  }
}

type Writers = Pick<Look, 'renderer' | 'recorder' | 'dialect'>;

function stamp(query: Query, point: Point | null, present: boolean, { renderer, recorder, dialect }: Writers): Stamp {
  const hash = point === null ? null : dialect.formatId(point.hash);
  const etags = { json: etagOf(hash, 'json'), cbor: etagOf(hash, 'cbor') };
  return { query, point, present, renderer, recorder, dialect, height: `${point?.height}`, slot: `${point?.slot}`, hash, etags };
}

/** The past that is asked for; the present where nothing is. */
function stampAt(present: Stamp, at: string | undefined): Stamp {
  if (at === undefined) return present;
  const { query, hash, dialect } = present;
  const point = pointAt(query, parsePlace(at, dialect.parseId), dialect);
  return point !== null && dialect.formatId(point.hash) === hash ? present : stamp(query, point, false, present);
}

function nameOn(reply: FastifyReply, { height, slot, hash }: Stamp): void {
  if (hash !== null) reply.header('x-block-height', height).header('x-block-slot', slot).header('x-block-hash', hash);
  else for (const name of ['x-block-height', 'x-block-slot', 'x-block-hash']) reply.removeHeader(name);
}

function isWhole(body: Body | Promise<Body>): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function lookAt({ query, point, present, renderer, recorder, dialect }: Stamp, form: Form, task: Task): Look {
  return { query, view: present ? query : query.at(point), renderer, recorder, dialect, form, task };
}

function later(body: Promise<Body>, lease: Lease, reply: FastifyReply, form: Form): void {
  body.then(
    (made) => {
      if (made instanceof Readable) return flow(made, lease, reply, form);
      lease.release();
      reply.header('content-type', MEDIA_TYPES[form]).send(made);
    },
    (error: Error) => {
      lease.release();
      reply.send(error);
    },
  );
}

/** The snapshot stays as long as the stream does, and the stream no longer than its reader. */
function flow(body: Readable, lease: Lease, reply: FastifyReply, form: Form): void {
  body.once('close', () => lease.release());
  reply.raw.once('close', () => body.destroy());
  reply.header('content-type', MEDIA_TYPES[form]).send(body);
}
