/**
 * The responder of the Bitcoin family: serves a chain over the P2P protocol to
 * any number of clients at once, real nodes among them. Closing it ends every
 * connection.
 */
import { createServer, type Server } from 'node:net';
import { UnspentError } from '../../../util/errors.ts';
import { AnnouncedTxs } from './announced.ts';
import type { ServedChain } from './chain.ts';
import { Connection } from './connection.ts';

export type { ChainNews, ServedChain } from './chain.ts';

const LOOPBACK = '127.0.0.1';

export interface P2pServerOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly host?: string;
  /** Told how a connection came to its end. */
  readonly onDisconnect?: (why: UnspentError) => void;
}

export interface P2pServer {
  readonly port: number;
  readonly clients: number;
  /** Ends every connection; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

/** Throws SOURCE_UNREACHABLE when the port cannot be had. */
export async function serveP2p(chain: ServedChain, { port, host = LOOPBACK, onDisconnect }: P2pServerOptions): Promise<P2pServer> {
  const connections = new Map<Connection, Promise<void>>();
  const announced = new AnnouncedTxs(chain);
  const server = createServer((socket) => {
    const connection = new Connection(socket, chain, announced);
    const served = connection.serve().then((why) => {
      connections.delete(connection);
      onDisconnect?.(why);
    });
    connections.set(connection, served);
  });
  await listen(server, port, host);
  const address = server.address();
  const cut = (): void => {
    for (const connection of connections.keys()) connection.cut();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    get clients() {
      return connections.size;
    },
    cut,
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await Promise.all(connections.values());
      await stopped;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'somebody listens there already' : (cause.code ?? cause.message);
      reject(new UnspentError('SOURCE_UNREACHABLE', `cannot listen on ${host}:${port}: ${why}`, { host, port }, cause));
    });
    server.listen(port, host, resolve);
  });
}
