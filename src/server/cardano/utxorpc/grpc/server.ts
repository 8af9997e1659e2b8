/**
 * The server of UTxO RPC: HTTP/2 without TLS, on loopback unless the settings
 * say otherwise, with the services of the specification behind it. A browser
 * speaks HTTP/2 only over TLS, so no page of another origin gets here; the token
 * of the HTTP server is asked for here, too.
 */
import { createServer, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { queryConnect, submitConnect, syncConnect, watchConnect } from '@utxorpc/spec/lib/index.mjs';
import {
  HTTP_REQUEST_MS,
  HTTP_STALLED_MS,
  UTXORPC_IDLE_MS,
  UTXORPC_MESSAGE_BYTES_MAX,
  UTXORPC_SESSION_STREAMS_MAX,
} from '../../../../util/limits.ts';
import { listenOn } from '../../../http/listen.ts';
import { tokenCheck } from '../../../http/safety.ts';
import type { ShapeServer } from '../../../shapes.ts';
import { UtxoRpcBackend, type UtxoRpcParts } from './backend.ts';
import { valuesOf } from './calls.ts';
import { queryService } from './query-service.ts';
import { type CallTimeouts, GrpcSessions } from './sessions.ts';
import { guardCalls } from './status.ts';
import { submitService } from './submit-service.ts';
import { syncService } from './sync-service.ts';
import { watchService } from './watch-service.ts';

const PATIENCE: CallTimeouts = { stalledMs: HTTP_STALLED_MS, idleMs: UTXORPC_IDLE_MS, requestMs: HTTP_REQUEST_MS };

/** `port` 0: any that is free. Throws IO where the system does not let it listen. */
export async function openGrpc(parts: UtxoRpcParts, port: number, patience = PATIENCE): Promise<ShapeServer> {
  const { server: settings } = parts.context.config;
  const backend = new UtxoRpcBackend(parts, patience.stalledMs);
  const shutdown = new AbortController();
  const answer = connectNodeAdapter({
    routes(router) {
      router.service(queryConnect.QueryService, queryService(backend));
      router.service(syncConnect.SyncService, syncService(backend));
      router.service(submitConnect.SubmitService, submitService(backend));
      router.service(watchConnect.WatchService, watchService(backend));
    },
    interceptors: [guardCalls(settings.token === '' ? null : tokenCheck(settings.token), parts.log)],
    contextValues: (request) => valuesOf(request as Http2ServerRequest, patience.stalledMs),
    readMaxBytes: UTXORPC_MESSAGE_BYTES_MAX,
    shutdownSignal: shutdown.signal,
  });
  const server = createServer({ settings: { maxConcurrentStreams: UTXORPC_SESSION_STREAMS_MAX } }, answer);
  const sessions = new GrpcSessions(settings.connectionsMax, patience);
  sessions.watch(server);
  await listenOn(server, settings.host, port, 'utxorpc.port');
  return {
    ports: { grpc: (server.address() as AddressInfo).port },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      shutdown.abort();
      await backend.settled();
      sessions.close();
      await closed;
    },
  };
}
