/**
 * The server of UTxO RPC: HTTP/2 without TLS, on loopback unless the settings
 * say otherwise, with the services of the specification behind it. A browser
 * speaks HTTP/2 only over TLS, so no page of another origin gets here; the token
 * of the HTTP server is asked for here, too.
 */
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { queryConnect, submitConnect, syncConnect, watchConnect } from '@utxorpc/spec/lib/index.mjs';
import { UTXORPC_IDLE_MS, UTXORPC_MESSAGE_BYTES_MAX, UTXORPC_SESSION_STREAMS_MAX } from '../../../../util/limits.ts';
import { listenOn } from '../../../http/listen.ts';
import { tokenCheck } from '../../../http/safety.ts';
import type { ShapeServer } from '../../../shapes.ts';
import { UtxoRpcBackend, type UtxoRpcParts } from './backend.ts';
import { queryService } from './query-service.ts';
import { guardCalls } from './status.ts';
import { submitService } from './submit-service.ts';
import { syncService } from './sync-service.ts';
import { watchService } from './watch-service.ts';

/** `port` 0: any that is free. Throws IO where the system does not let it listen. */
export async function openGrpc(parts: UtxoRpcParts, port: number): Promise<ShapeServer> {
  const { server: settings } = parts.context.config;
  const backend = new UtxoRpcBackend(parts);
  const shutdown = new AbortController();
  const answer = connectNodeAdapter({
    routes(router) {
      router.service(queryConnect.QueryService, queryService(backend));
      router.service(syncConnect.SyncService, syncService(backend));
      router.service(submitConnect.SubmitService, submitService(backend));
      router.service(watchConnect.WatchService, watchService(backend));
    },
    interceptors: [guardCalls(settings.token === '' ? null : tokenCheck(settings.token), parts.log)],
    readMaxBytes: UTXORPC_MESSAGE_BYTES_MAX,
    shutdownSignal: shutdown.signal,
  });
  const server = createServer({ settings: { maxConcurrentStreams: UTXORPC_SESSION_STREAMS_MAX } }, answer);
  server.maxConnections = settings.connectionsMax;
  const sessions = watchSessions(server);
  await listenOn(server, settings.host, port, 'utxorpc.port');
  return {
    ports: { grpc: (server.address() as AddressInfo).port },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      shutdown.abort();
      await backend.settled();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

/** Those that are open. One that has asked for nothing for long is closed. */
function watchSessions(server: Http2Server): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    let streams = 0;
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('stream', (stream) => {
      streams++;
      stream.on('close', () => streams--);
    });
    session.setTimeout(UTXORPC_IDLE_MS, () => {
      if (streams === 0) session.close();
    });
  });
  // A connection that breaks, or speaks something else, is its client's affair.
  server.on('sessionError', () => undefined);
  return sessions;
}
