/**
 * `/metrics` for Prometheus, at the root and under the API, and the short
 * history the page draws. Every request is timed here, by the template of its
 * route: whatever else stands in a URL would make a series of its own.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ServerContext } from '../context.ts';
import { API, describedStatus, PROBLEM } from '../native/openapi.ts';
import { EngineMetrics } from './engine-metrics.ts';
import { History, Sample } from './history.ts';
import { Metrics } from './metrics.ts';

/** Requests for which there is no route. */
const NO_ROUTE = 'none';

export interface MetricsOptions {
  /** Told when the store could not be read. */
  onFailure(error: Error): void;
  /** What was found to be damaged; null: nothing. */
  damage?(): string | null;
  /** Milliseconds between two samples of the history. */
  readonly historyMs?: number;
}

export function registerMetrics(app: FastifyInstance, context: ServerContext, options: MetricsOptions): void {
  const metrics = new Metrics(context, () => options.damage?.() ?? null);
  const engine = new EngineMetrics(context.reads, metrics.registry, context.config.data);
  const history = new History(context, options.onFailure, options.historyMs);
  const forget = context.live.onTimings((timings) => {
    for (const timing of timings) {
      metrics.took(timing);
      history.timing(timing);
    }
  });
  engine.start(1000 * context.config.metrics.sampleEngineSeconds, options.onFailure);
  app.addHook('onClose', async () => {
    forget();
    engine.stop();
    history.stop();
  });
  timeRequests(app, metrics, history);
  serveText(app, metrics);
  context.figures?.toldBy(async () => ({ metrics: await metrics.own(await connectionsOf(app)), samples: history.samples }));
  const schema = describedStatus('The last minutes', Type.Array(Sample), 'A sample a second for a quarter of an hour, oldest first.');
  app.get(`${API}/status/history`, { schema }, async (_request, reply) => {
    const others = (await context.figures?.others()) ?? [];
    reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8');
    return JSON.stringify(
      together(
        history.samples,
        others.map(({ samples }) => samples),
      ),
    );
  });
}

/** Requests of all threads in each second; the slowest thread says how long they took. */
export function together(own: readonly Sample[], others: readonly (readonly Sample[])[]): readonly Sample[] {
  if (others.length === 0) return own;
  const byTime = others.map((samples) => new Map(samples.map((sample) => [sample.time, sample])));
  return own.map((sample) => {
    const same = byTime.flatMap((samples) => samples.get(sample.time) ?? []);
    const times = [sample, ...same].flatMap(({ p99_ms }) => p99_ms ?? []);
    return {
      ...sample,
      requests_per_second: same.reduce((sum, { requests_per_second }) => sum + requests_per_second, sample.requests_per_second),
      p99_ms: times.length === 0 ? null : Math.max(...times),
    };
  });
}

function connectionsOf(app: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));
}

function timeRequests(app: FastifyInstance, metrics: Metrics, history: History): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? NO_ROUTE;
    // A stream of events lasts as long as its reader likes.
    if (route !== `${API}/events` || reply.statusCode !== 200) {
      metrics.answered(methodOf(request), route, reply.statusCode, reply.elapsedTime / 1000);
      history.answered(reply.elapsedTime);
    }
    done();
  });
}

/** Anybody can make up a method; only those of routes are told apart. */
function methodOf({ method, routeOptions }: FastifyRequest): string {
  return routeOptions.url === undefined ? NO_ROUTE : method;
}

function serveText(app: FastifyInstance, metrics: Metrics): void {
  const response = { 200: { description: 'Metrics', content: { 'text/plain': { schema: Type.String() } } }, default: PROBLEM };
  const schema = { tags: ['Server'], summary: 'Metrics for Prometheus', response };
  for (const prefix of ['', API]) {
    app.get(`${prefix}/metrics`, { schema }, async (_request, reply) => {
      const connections = await connectionsOf(app);
      reply.header('cache-control', 'no-store').header('content-type', metrics.registry.contentType);
      return metrics.text(connections);
    });
  }
}
