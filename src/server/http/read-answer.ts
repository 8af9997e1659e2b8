/**
 * How every wire shape answers a read: from one query, which is one snapshot of
 * the store at one block. The query is shared by all requests while the store
 * does not move; the snapshot is released when the body has been sent, however
 * long that takes. A client that already has the answer gets a 304 before any
 * work is done. Native, Esplora and the page are built on this.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Lease } from '../../events/shared-snapshots.ts';
import type { Query } from '../../query/query.ts';
import { isUnspentError } from '../../util/errors.ts';
import type { Reads } from '../context.ts';
import { isFresh } from './conditional.ts';

export type ResponseBody = string | Uint8Array | Readable;

export interface ReadAnswer {
  /** The media type. */
  readonly type: string;
  readonly body: ResponseBody | Promise<ResponseBody>;
}

/** The block an answer is about, as its headers name it. */
export interface BlockHeaders {
  readonly height: string;
  /** Left out by shapes of chains without slots. */
  readonly slot?: string;
  readonly hash: string;
}

const BLOCK_HEADERS = ['x-block-height', 'x-block-slot', 'x-block-hash'] as const;

/** Names the block the answer is about; null: the store has no block, and a block named before is not named any more. */
export function nameBlock(reply: FastifyReply, block: BlockHeaders | null): void {
  if (block === null) {
    for (const name of BLOCK_HEADERS) reply.removeHeader(name);
    return;
  }
  reply.header('x-block-height', block.height);
  if (block.slot !== undefined) reply.header('x-block-slot', block.slot);
  reply.header('x-block-hash', block.hash);
}

/** Sets the validator of the answer. Unless told otherwise a cache may keep the answer, but must ask before it uses it. */
export function setValidator(reply: FastifyReply, etag: string, cacheControl = 'no-cache'): void {
  reply.header('etag', etag).header('cache-control', cacheControl);
}

/** Whether the client has what this validator stands for. */
export function isKnownTo(request: FastifyRequest, etag: string): boolean {
  return isFresh(request.headers['if-none-match'], etag);
}

/**
 * Leases the newest query, and sends what `produce` makes of it; null: 304, the client has it already. What it throws,
 * fastify answers. Where rows are elsewhere, `produce` may be called again when they have come: it must only read.
 */
export function answerRead(reads: Reads, reply: FastifyReply, produce: (query: Query) => ReadAnswer | null): void {
  const lease = reads.lease();
  let answer: ReadAnswer | null | Promise<ReadAnswer | null>;
  try {
    answer = reads.attempt(() => produce(lease.query), reply.request.task);
  } catch (error) {
    lease.release();
    throw error;
  }
  if (answer instanceof Promise) sendAttempt(reads, answer, lease, reply, produce);
  else sendAnswer(answer, lease, reply);
}

function sendAttempt(
  reads: Reads,
  attempt: Promise<ReadAnswer | null>,
  lease: Lease,
  reply: FastifyReply,
  produce: (query: Query) => ReadAnswer | null,
): void {
  const failed = (error: Error): void => {
    lease.release();
    const newest = reads.lease();
    const isMoved = newest.query !== lease.query;
    newest.release();
    // Nothing was sent yet: where its block is not held any more, the answer is of the newest one.
    if (isUnspentError(error, 'COPY_MOVED') && isMoved) answerRead(reads, reply, produce);
    else reply.send(error);
  };
  attempt.then((answer) => sendAnswer(answer, lease, reply), failed).catch((error: Error) => reply.send(error));
}

function sendAnswer(answer: ReadAnswer | null, lease: Lease, reply: FastifyReply): void {
  // A promise or a stream releases the lease when it ends.
  if (answer?.body instanceof Promise) sendLater(answer.body, lease, reply, answer.type);
  else if (answer?.body instanceof Readable) sendStream(answer.body, lease, reply, answer.type);
  else {
    try {
      if (answer === null) reply.code(304).send();
      else reply.header('content-type', answer.type).send(answer.body);
    } finally {
      lease.release();
    }
  }
}

/** A body that is complete in memory. */
export function isWhole(body: ResponseBody | Promise<ResponseBody>): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function sendLater(body: Promise<ResponseBody>, lease: Lease, reply: FastifyReply, type: string): void {
  body.then(
    (made) => {
      if (made instanceof Readable) return sendStream(made, lease, reply, type);
      lease.release();
      reply.header('content-type', type).send(made);
    },
    (error: Error) => {
      lease.release();
      reply.send(error);
    },
  );
}

/** Holds the snapshot until the stream is closed, and closes the stream when the client is gone. */
function sendStream(body: Readable, lease: Lease, reply: FastifyReply, type: string): void {
  body.once('close', () => lease.release());
  reply.raw.once('close', () => body.destroy());
  reply.header('content-type', type).send(body);
}
