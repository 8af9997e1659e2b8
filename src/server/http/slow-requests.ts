/**
 * A line in the log for each request that took long: from its first byte to the
 * first of its answer, without what it asked to wait for. A stream is slow if
 * it begins late, not because its reader takes its time. Routes are named by
 * their template, because a path may hold what is nobody's business: an
 * address, a token.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LogLine } from '../../util/log.ts';

/** `slowMs` 0: none is called slow. */
export function logSlowRequests(app: FastifyInstance, slowMs: number, log: LogLine): void {
  if (slowMs === 0) return;
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Refused before its connection was let in: it has no task, and took nothing.
    const { task } = request;
    const tookMs = reply.elapsedTime - (task?.waitedMs ?? 0);
    if (tookMs >= slowMs) log(slowText(request, reply, tookMs), 'warn', 'slow');
    done();
  });
}

function slowText({ method, routeOptions, task }: FastifyRequest, { statusCode }: FastifyReply, tookMs: number): string {
  const route = routeOptions.url ?? 'a path without a route';
  return `slow: ${method} ${route} was answered with ${statusCode} after ${seconds(tookMs)}, ${seconds(task?.spentMs ?? 0)} of it work of its own`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
