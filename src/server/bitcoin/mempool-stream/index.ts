/**
 * `GET /api/v1/mempool/events`: what the node that is followed has in its
 * mempool, and what it tells from then on, as server-sent events: for wallets on
 * other machines (wallet/feed/http-mempool.ts), which have to see the
 * transactions themselves to know which are theirs.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { UnspentError } from '../../../util/errors.ts';
import type { ServerState } from '../../http/server-state.ts';
import { API, PROBLEM } from '../../native/openapi.ts';
import type { WireShape } from '../../shapes.ts';
import { mempoolOf } from '../mempool.ts';
import { mempoolFrames } from './frames.ts';

export const mempoolStream: WireShape = { name: 'mempool-stream', routes: registerMempoolStream };

const schema = {
  tags: ['Server'],
  summary: 'What is in the mempool, and what comes and goes',
  description:
    'Server-sent events: add (`transactions`, in hex), remove (`txids`), complete (everything that was there at first has been told), reset (what was told before is void).',
  response: {
    200: { description: 'Events, for as long as the reader stays.', content: { 'text/event-stream': { schema: Type.String() } } },
    default: PROBLEM,
  },
};

function registerMempoolStream(app: FastifyInstance, { context }: ServerState): void {
  const readers = new Set<AbortController>();
  // Before the server waits for its connections to end: these never would.
  app.addHook('preClose', async () => {
    for (const reader of readers) reader.abort();
  });
  app.get(`${API}/mempool/events`, { schema, exposeHeadRoute: false }, (_request, reply) => {
    const mempool = mempoolOf(context);
    if (mempool === null) throw new UnspentError('UNSUPPORTED', 'this store keeps no unspent set, so there is no mempool');
    const { streamsMax } = context.config.server;
    if (readers.size >= streamsMax) throw new UnspentError('BUSY', `${streamsMax} mempool streams are open already`, { limit: streamsMax });
    const reader = new AbortController();
    readers.add(reader);
    reply.raw.once('close', () => {
      reader.abort();
      readers.delete(reader);
    });
    return reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(mempoolFrames(mempool, reader.signal)));
  });
}
