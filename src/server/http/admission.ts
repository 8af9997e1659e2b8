/**
 * What lets a request in: the line of its connection (`connections.ts`), then
 * its turn among all requests (`work/`). Health and readiness wait for their
 * own connection only. From here on `request.task` is the work of the request,
 * and knows whether anybody still waits for it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnspentError } from '../../util/errors.ts';
import { HTTP_PIECE_CHARS, HTTP_PIPELINED_MAX, HTTP_STALLED_MS } from '../../util/limits.ts';
import { Connections } from './connections.ts';
import { clientOfInjected } from './inject.ts';
import type { Task } from './work/task.ts';
import type { Workload } from './work/workload.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** All that are open. */
    readonly connections: Connections;
  }
  interface FastifyRequest {
    task: Task;
  }
  interface FastifyContextConfig {
    /** Answered however busy the server is. */
    readonly always?: boolean;
  }
}

type Done = (error?: Error) => void;

/** Two hooks around every request: before anything is done for it, and when its answer is made. */
export function admit(app: FastifyInstance, workload: Workload, connectionsMax: number): void {
  const connections = new Connections(connectionsMax);
  connections.watch(app.server);
  app.decorate('connections', connections);
  app.decorateRequest('task');
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: Done) => {
    const { socket } = request.raw;
    const begin = (): void => {
      reply.raw.once('close', () => {
        request.task.end();
        connections.answered(socket);
      });
      const isReserve = connections.isReserve(socket);
      if (isReserve) reply.header('connection', 'close');
      if (request.routeOptions.config.always === true) done();
      else if (isReserve) done(busy('all connections are at work; this one may only ask after health', 0));
      else if (workload.refusal !== null) done(workload.refusal);
      else request.task.start(done);
    };
    request.task = workload.task((connections.has(socket) ? undefined : clientOfInjected()) ?? (() => socket.destroyed));
    if (connections.take(socket, begin) !== 'refused') return;
    reply.header('connection', 'close');
    done(busy(`a connection may send ${HTTP_PIPELINED_MAX} requests ahead of their answers`, HTTP_PIPELINED_MAX));
  });
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
    const bytes = typeof payload === 'string' || payload instanceof Uint8Array ? payload.length : null;
    // A stream has bounds of its own, and what was refused holds next to nothing.
    if (request.task?.isStarted) request.task.done(bytes ?? 0);
    if (bytes === null || bytes > HTTP_PIECE_CHARS) cutWhenStalled(reply);
    done();
  });
}

/** An answer that may have to wait for its reader: while it is under way a reader that takes nothing is given less time than one that asks. */
function cutWhenStalled({ raw }: FastifyReply): void {
  const { socket } = raw;
  const before = socket?.timeout ?? 0;
  if (before <= HTTP_STALLED_MS) return;
  socket?.setTimeout(HTTP_STALLED_MS);
  raw.once('finish', () => socket?.setTimeout(before));
}

function busy(message: string, limit: number): UnspentError {
  return new UnspentError('BUSY', message, { limit });
}
