/**
 * The three ways in: TCP, TLS and WebSocket. Each is a listener that hands its
 * connections on and can be closed.
 */
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { WebSocketServer } from 'ws';
import type { Config } from '../../../config/schema.ts';
import { readRegular } from '../../../files/regular.ts';
import { UnspentError } from '../../../util/errors.ts';
import { ELECTRUM_MESSAGE_BYTES_MAX, HANDSHAKE_STEP_MS, HTTP_HEADERS_MS, SECRET_FILE_BYTES_MAX } from '../../../util/limits.ts';
import { listenOn } from '../../http/listen.ts';
import { isLoopback } from '../../http/safety.ts';
import { type Receiver, socketWire, type Wire, webSocketWire } from './wire.ts';

const { createServer: createHttpServer } = process.getBuiltinModule('node:http');

type Settings = Config['electrum'];
type Open = (wire: Wire) => Receiver;

/** Throws CONFIG when others could reach it without anybody having said so. */
export function checkElectrumBind({ host, allowPublic }: Settings): void {
  if (isLoopback(host) || allowPublic) return;
  const message = `electrum.host ${host} can be reached by others; set electrum.allowPublic if that is meant`;
  throw new UnspentError('CONFIG', message, { setting: 'electrum.host' });
}

export function tcpServer(open: Open): Server {
  return createServer((socket) => socketWire(socket, open));
}

/** Throws CONFIG when the certificate or its key is not there, or they do not belong together. */
export function tlsServer(settings: Settings, open: Open): Server {
  const cert = readPem(settings.tlsCert, 'electrum.tlsCert');
  const key = readPem(settings.tlsKey, 'electrum.tlsKey');
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const message = `electrum.tlsCert and electrum.tlsKey are no certificate and its key: ${(error as Error).message}`;
    throw new UnspentError('CONFIG', message, { setting: 'electrum.tlsCert' }, error);
  }
  return createTlsServer({ cert, key, handshakeTimeout: HANDSHAKE_STEP_MS }, (socket) => socketWire(socket, open));
}

/** A page from elsewhere may open a WebSocket to this machine: only where the server is for everybody is it let in. */
export function webSocketServer({ allowPublic }: Settings, open: Open): Server {
  const http = createHttpServer({ headersTimeout: HTTP_HEADERS_MS }, (_, response) => {
    response.writeHead(426, { 'content-type': 'text/plain' }).end('This is an Electrum server; speak WebSocket.\n');
  });
  const sockets = new WebSocketServer({
    server: http,
    maxPayload: ELECTRUM_MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    verifyClient: ({ req }: { req: IncomingMessage }) => allowPublic || isOwnPage(req.headers.origin),
  });
  sockets.on('connection', (socket) => webSocketWire(socket, open));
  // Of the listener below it, which says so to whoever listens.
  sockets.on('error', () => undefined);
  return http;
}

/** One that listens. */
export class Listener {
  readonly port: number;
  private readonly server: Server;
  private readonly connections: ReadonlySet<Socket>;

  private constructor(server: Server, connections: ReadonlySet<Socket>) {
    this.server = server;
    this.connections = connections;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Throws IO. */
  static async open(server: Server, { host, sessionsMax }: Settings, port: number, setting: string): Promise<Listener> {
    const connections = new Set<Socket>();
    // Those that are turned away, or are not done with their handshake, count here too.
    server.maxConnections = 2 * sessionsMax;
    server.on('connection', (socket: Socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
    });
    await listenOn(server, host, port, setting, 'the Electrum server ');
    return new Listener(server, connections);
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    for (const socket of this.connections) socket.destroy();
    return closed;
  }
}

function isOwnPage(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}

function readPem(path: string, setting: string): Buffer {
  if (path === '') throw new UnspentError('CONFIG', `electrum.tlsPort needs ${setting}: a file with PEM`, { setting });
  try {
    return Buffer.from(readRegular(path, { bytesMax: SECRET_FILE_BYTES_MAX, links: 'follow' }));
  } catch (error) {
    throw new UnspentError('CONFIG', `${setting} cannot be read: ${(error as Error).message}`, { setting, path }, error);
  }
}
