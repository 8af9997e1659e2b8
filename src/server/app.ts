/**
 * The HTTP server, put together: what guards it, what it answers with, and how
 * it fails. It does not listen; whoever runs it does, or injects requests.
 */
import fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import { UnspentError } from '../util/errors.ts';
import {
  HTTP_BODY_BYTES_MAX,
  HTTP_HEADERS_MS,
  HTTP_PARAM_CHARS_MAX,
  HTTP_REQUEST_MS,
  HTTP_STALLED_MS,
  SUBMIT_MS_MAX,
  SUBMIT_PACKAGE_MS,
} from '../util/limits.ts';
import type { LogLine } from '../util/log.ts';
import { offersBackups, registerBackups } from './backups/index.ts';
import type { ServerContext } from './context.ts';
import { registerDocs } from './docs/route.ts';
import { admit } from './http/admission.ts';
import { AllowedOrigins, nameOrigins } from './http/cors.ts';
import { answerError, type FailureListener, handleErrors, PROBLEM_TYPE, problemOf } from './http/problem.ts';
import { guard, isLoopback, protect } from './http/safety.ts';
import { ServerState } from './http/server-state.ts';
import { logSlowRequests } from './http/slow-requests.ts';
import type { Typebox } from './http/typed.ts';
import { registerMetrics } from './metrics/route.ts';
import { registerEvents } from './native/events/route.ts';
import { registerDocument, registerOpenApi } from './native/openapi.ts';
import { registerReference } from './native/reference.ts';
import { registerNative } from './native/routes/index.ts';
import { registerPage } from './page/route.ts';
import { shapesOf } from './shapes.ts';

export interface AppOptions {
  /** One line for each failure of the server itself, and for what an operator should know of how it is open. */
  readonly log?: LogLine;
}

/** Throws CONFIG when the settings would open the server to others by accident. */
export async function buildApp(context: ServerContext, options: AppOptions = {}): Promise<FastifyInstance> {
  const log = options.log ?? ((line) => process.stderr.write(`unspent: ${line}\n`));
  const state = new ServerState(context, log);
  const { trouble } = state;
  const app = newFastify(context, trouble);
  const origins = originsOf(context.config, log);
  nameOrigins(app, origins);
  admit(app, context.workload, context.config.server.connectionsMax);
  logSlowRequests(app, context.config.log.slowRequestMs, log);
  guard(app, context.config, origins);
  handleErrors(app, trouble);
  await registerOpenApi(app);
  registerNative(app, state);
  if (offersBackups(context.config)) registerBackups(app.withTypeProvider<Typebox>(), state);
  for (const shape of shapesOf(context.network)) shape.routes?.(app, state);
  registerEvents(app, context, { onFailure: (error) => state.onFailure(error, 'events') });
  registerMetrics(app, context, { onFailure: (error) => state.onFailure(error, 'metrics'), damage: () => state.damage });
  const page = registerPage(app);
  registerDocument(app);
  registerReference(app, page);
  registerDocs(app);
  await app.ready();
  return app;
}

/** Throws CONFIG. Says so where pages of every origin may read. */
function originsOf({ server }: Config, log: LogLine): AllowedOrigins {
  const origins = new AllowedOrigins(server, server.allowPublic || !isLoopback(server.host));
  if (origins.isOpen) log('pages of every origin may read from this server (server.cors is *)', 'warn');
  return origins;
}

/** Milliseconds without a byte after which a connection is cut: what the longest request may wait for its answer, and then some. */
export function connectionMs(waitSecondsMax: number): number {
  return Math.max(1000 * waitSecondsMax, SUBMIT_PACKAGE_MS + SUBMIT_MS_MAX) + HTTP_STALLED_MS;
}

function newFastify({ config }: ServerContext, trouble: FailureListener): FastifyInstance {
  const { waitSecondsMax } = config.server;
  const app = fastify({
    logger: false,
    bodyLimit: HTTP_BODY_BYTES_MAX,
    requestTimeout: HTTP_REQUEST_MS,
    connectionTimeout: connectionMs(waitSecondsMax),
    http: { headersTimeout: HTTP_HEADERS_MS },
    // Some clients put a slash behind their base URL and one before each path.
    routerOptions: { maxParamLength: HTTP_PARAM_CHARS_MAX, ignoreDuplicateSlashes: true },
    // Streams and events would otherwise keep the server from ever closing.
    forceCloseConnections: true,
    // A parameter that is not known is a mistake worth telling; texts become numbers where the schema says so.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: true, allErrors: false } },
    frameworkErrors: (error, request, reply) => {
      protect(reply);
      answerError(error, request, reply, trouble);
    },
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(badRequest());
    },
  });
  // Answers are text already; their schemas are for the reference.
  app.setSerializerCompiler(() => (document) => JSON.stringify(document));
  return app as unknown as FastifyInstance;
}

/** For what is not even HTTP. */
function badRequest(): string {
  const body = JSON.stringify(problemOf(new UnspentError('USAGE', 'this is not an HTTP request')));
  return `HTTP/1.1 400 Bad Request\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}
