/**
 * `GET /api/v1/events`: what happens to the chain, as server-sent events. One
 * feed for everybody; a stream is a reader of it. How many there may be, how long
 * one may be silent and how far it may fall behind is bounded.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { UnspentError } from '../../../util/errors.ts';
import { EVENT_BUFFER_BYTES_MAX, EVENT_HEARTBEAT_MS, EVENT_RETRY_MS, HTTP_STALLED_MS, SLICE_MS } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import { API, PROBLEM } from '../openapi.ts';
import { EventStream, type StreamEnd, type StreamLimits } from './event-stream.ts';
import { Feed } from './feed.ts';
import { rootsReader } from './roots.ts';
import { EVENT_TYPES, Subscription, type SubscriptionParams } from './subscription.ts';

export interface EventOptions extends StreamLimits {
  /** Milliseconds of work before others get their turn. */
  readonly sliceMs: number;
  /** Told when the store could not be read. */
  onFailure(error: Error): void;
}

/** How the streams of a server are doing. */
export interface EventCounts {
  readonly open: number;
  /** Since the start. */
  readonly events: number;
  readonly ended: Readonly<Record<StreamEnd, number>>;
}

const DEFAULTS: Omit<EventOptions, 'onFailure'> = {
  heartbeatMs: EVENT_HEARTBEAT_MS,
  bufferBytesMax: EVENT_BUFFER_BYTES_MAX,
  stalledMs: HTTP_STALLED_MS,
  sliceMs: SLICE_MS,
};

const several = (description: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], { description: `${description} Several: joined by commas, or repeated.` }),
  );

const EventsQuery = Type.Object(
  {
    types: several(`Any of ${EVENT_TYPES.join(', ')}. Unless said: block and rollback, and utxo where a filter is given.`),
    address: several('Outputs of this address.'),
    credential: several('Outputs with this payment credential.'),
    stake: several('Outputs with this stake address or credential.'),
    policy: several('Outputs that hold assets of this policy.'),
    asset: several('Outputs that hold this asset: policy and name in hex, joined.'),
    after: Type.Optional(
      Type.String({
        maxLength: 512,
        description: 'Where to go on: the id of the last event, or the hash of a block. The header Last-Event-ID says the same.',
      }),
    ),
  },
  { additionalProperties: false },
);

const schema = {
  tags: ['Server'],
  summary: 'What happens to the chain, as it happens',
  description: 'Server-sent events: block, undo, rollback, created, spent, unspent, uncreated, tip, begin, expired, failure.',
  querystring: EventsQuery,
  response: {
    200: { description: 'Events, for as long as the reader stays.', content: { 'text/event-stream': { schema: Type.String() } } },
    default: PROBLEM,
  },
};

const counters = new WeakMap<ServerContext, () => EventCounts>();

/** Of the server of this context; nothing where it has no events. */
export function eventCounts(context: ServerContext): EventCounts | null {
  return counters.get(context)?.() ?? null;
}

export function registerEvents(
  app: FastifyInstance,
  context: ServerContext,
  options: Pick<EventOptions, 'onFailure'> & Partial<EventOptions>,
): void {
  const limits = { ...DEFAULTS, ...options };
  const streams = new Set<EventStream>();
  const ended = { left: 0, cut: 0, expired: 0, failed: 0, closed: 0 };
  let told = 0;
  const feed = new Feed({
    reads: context.reads,
    workload: context.workload,
    network: context.network,
    rootsOf: rootsReader(context),
    windows: context.config.utxo,
    sliceMs: limits.sliceMs,
    onFailure: limits.onFailure,
  });
  const onEnd = (stream: EventStream, why: StreamEnd): void => {
    streams.delete(stream);
    feed.leave(stream);
    ended[why]++;
    told += stream.events;
  };
  counters.set(context, () => ({ open: streams.size, ended, events: [...streams].reduce((sum, { events }) => sum + events, told) }));
  // Before the server waits for its connections to end: these never would.
  app.addHook('preClose', async () => feed.close());

  app.get(`${API}/events`, { schema, exposeHeadRoute: false }, (request, reply) => {
    const { after, ...params } = request.query as SubscriptionParams & { readonly after?: string };
    const subscription = new Subscription(params, context.network.dialect);
    if (subscription.wantsOutputs && !context.projections.includes('utxo'))
      throw new UnspentError('UNSUPPORTED', 'this store keeps no outputs (utxo.enabled is off), so there are no events of them');
    const { streamsMax } = context.config.server;
    if (streams.size >= streamsMax) throw new UnspentError('BUSY', `${streamsMax} event streams are open already`, { limit: streamsMax });
    const stream = new EventStream(subscription, limits, onEnd);
    streams.add(stream);
    // A browser that comes back by itself says it in a header, and that is newer than its URL.
    const header = request.headers['last-event-id'];
    try {
      stream.send(`retry: ${EVENT_RETRY_MS}\n\n`);
      feed.join(stream, (typeof header === 'string' ? header : undefined) || after || null);
    } catch (error) {
      stream.body.destroy();
      throw error;
    }
    reply.raw.once('close', () => stream.body.destroy());
    return reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(stream.body);
  });
}
