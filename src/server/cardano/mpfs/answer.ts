/**
 * How a read of the MPFS API is answered: in JSON, from one query at the newest
 * block, which the headers and the answer itself name. Built on
 * `http/read-answer.ts`.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needCardano } from '../../../families/cardano.ts';
import { type CardanoNetwork, parseAddress } from '../../../ledgers/cardano/index.ts';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { CageTxGround } from '../../../query/cardano/cage-tx/ground.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { ServerContext } from '../../context.ts';
import { etagOf, MEDIA_TYPES } from '../../http/conditional.ts';
import { answerRead, isKnownTo, nameBlock, setValidator } from '../../http/read-answer.ts';
import { type RowFrame, RowStream } from '../../http/rows.ts';
import type { ServerState } from '../../http/server-state.ts';
import { CageRead } from './read.ts';
import { CageScripts } from './scripts.ts';

export class MpfsAnswers {
  readonly state: ServerState;
  readonly context: ServerContext;
  readonly network: CardanoNetwork;
  readonly scripts: CageScripts;

  /** Throws CONFIG where a file of scripts cannot be used. */
  constructor(state: ServerState) {
    this.state = state;
    this.context = state.context;
    this.network = needCardano(state.context.network, 'MPFS').parameters;
    this.scripts = new CageScripts(state.context.config, state.context.projections);
  }

  /**
   * Answers with what is made of a transaction that is built at the newest block, to be paid by `address` (bech32 or
   * hex). Its scripts share the most that a transaction may use: nobody here evaluates them.
   */
  async build(reply: FastifyReply, address: string, make: (ground: CageTxGround, read: CageRead) => object): Promise<FastifyReply> {
    const payer = parseAddress(address);
    const parameters = decodeProtocolParameters((await this.context.ledger()).parameters);
    answerRead(this.context.reads, reply, (query) => {
      const read = this.readAt(query, reply);
      const script = (hash: Uint8Array, what: 'state' | 'request'): Uint8Array | null =>
        what === 'state' ? this.scripts.code(query, hash) : null;
      const ground = new CageTxGround(query, this.network, { address: payer, parameters, nowMs: read.nowMs, script });
      reply.header('cache-control', 'no-store');
      return { type: MEDIA_TYPES.json, body: JSON.stringify(make(ground, read)) };
    });
    return reply;
  }

  /** What the node asks of transactions, for clients that build them; null: no node is followed that says. */
  async parameters(): Promise<{ readonly verified: false; readonly cbor: string } | null> {
    try {
      return { verified: false, cbor: toHex((await this.context.ledger()).parameters) };
    } catch (error) {
      if (!isUnspentError(error, 'UNSUPPORTED')) throw error;
      return null;
    }
  }

  /** A read at the newest block, which the headers of the answer name. */
  private readAt(query: Query, reply: FastifyReply): CageRead {
    const { head } = query;
    nameBlock(reply, head === null ? null : { height: `${head.height}`, slot: `${head.slot}`, hash: toHex(head.hash) });
    return new CageRead(query, this.network, this.context);
  }

  /** Answers with a document, or with a stream of one. */
  give(request: FastifyRequest, reply: FastifyReply, produce: (read: CageRead) => object | string | null): void {
    answerRead(this.context.reads, reply, (query) => {
      const read = this.readAt(query, reply);
      const hash = query.head === null ? null : toHex(query.head.hash);
      // A POST is a question with a body: what was asked is not in its URL.
      if (request.method !== 'POST') {
        const etag = etagOf(hash, 'json');
        setValidator(reply, etag);
        if (isKnownTo(request, etag)) return null;
      } else reply.header('cache-control', 'no-store');
      const made = produce(read);
      return { type: MEDIA_TYPES.json, body: made instanceof Readable ? made : JSON.stringify(made) };
    });
  }

  /** Rows that are made while they are sent, no faster than their reader takes them. */
  rows<Row>(request: FastifyRequest, source: Iterable<Row>, encode: (row: Row) => string, frame: RowFrame): Readable {
    // Nobody reads the body of a HEAD.
    if (request.method === 'HEAD') return Readable.from([]);
    return this.state.stream(new RowStream(request.task, source, undefined, encode, 'json', frame));
  }

  /** Resolves with what `look` finds as soon as it finds something; null: not within that time. Never settles once the caller is gone. */
  wait<T>(reply: FastifyReply, seconds: number, look: (read: CageRead) => T | null): Promise<T | null> {
    const { reads, config } = this.context;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        stop();
        clearTimeout(timer);
        reply.raw.off('close', end);
      };
      const attempt = (): void => {
        const lease = reads.lease();
        try {
          const found = look(new CageRead(lease.query, this.network, this.context));
          if (found === null) return;
          end();
          resolve(found);
        } catch (error) {
          end();
          reject(error as Error);
        } finally {
          lease.release();
        }
      };
      const timer = setTimeout(() => {
        end();
        resolve(null);
      }, 1000 * Math.min(seconds, config.server.waitSecondsMax));
      const stop = reads.onMove(attempt);
      reply.raw.once('close', end);
      attempt();
    });
  }
}
