/**
 * The responder: serves a chain to any number of clients at once, over TCP as
 * nodes talk among themselves (N2N) and over a local socket as a node talks to
 * its clients (N2C). Closing it ends every connection and gives back all that
 * was held.
 */

import { unlinkSync } from 'node:fs';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Wire } from '../../../sources/cardano/ouroboros/handshake.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { ServedChain } from './chain.ts';
import { Connection, PLAIN_WIRING, type Wiring } from './connection.ts';

export type { ServedChain } from './chain.ts';
export { openImmutableChain } from './immutable-chain.ts';

const LOOPBACK = '127.0.0.1';

export interface ResponderOptions {
  /** TCP for N2N; 0: any free port; left out: no TCP. */
  readonly port?: number;
  readonly host?: string;
  /** Path of the socket for N2C; left out: none. */
  readonly socket?: string;
  /** Of the n-th connection, from 0. Default: nothing stands between the chain and its clients. */
  readonly wiring?: (connection: number) => Wiring;
  readonly onConnect?: (peer: string) => void;
  /** `why` null: the client said goodbye. */
  readonly onDisconnect?: (peer: string, why: UnspentError | null) => void;
}

export class Responder {
  /** Null: no TCP. */
  port: number | null = null;
  private readonly chain: ServedChain;
  private readonly options: ResponderOptions;
  private readonly servers: Server[] = [];
  private readonly connections = new Map<Connection, Promise<void>>();
  private accepted = 0;

  constructor(chain: ServedChain, options: ResponderOptions) {
    this.chain = chain;
    this.options = options;
  }

  get clients(): number {
    return this.connections.size;
  }

  /** Throws SOURCE_UNREACHABLE when the port or the socket cannot be had. */
  async listen(): Promise<this> {
    const { port, host = LOOPBACK, socket } = this.options;
    try {
      if (port !== undefined) {
        const address = (await this.open('n2n', { port, host }, `${host}:${port}`)).address();
        this.port = typeof address === 'object' && address !== null ? address.port : null;
      }
      if (socket !== undefined) {
        await removeStale(socket);
        await this.open('n2c', { path: socket }, socket);
      }
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Ends every connection without a goodbye; new ones are taken. */
  async cut(): Promise<void> {
    await Promise.all([...this.connections].flatMap(([connection, served]) => [connection.cut(), served]));
  }

  async close(): Promise<void> {
    const stopped = this.servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    this.servers.length = 0;
    await Promise.all([...this.connections].flatMap(([connection, served]) => [connection.close(), served]));
    await Promise.all(stopped);
  }

  private open(wire: Wire, where: ListenOptions, name: string): Promise<Server> {
    const server = createServer((socket) => this.accept(socket, wire));
    return new Promise((resolve, reject) => {
      server.once('error', (cause: NodeJS.ErrnoException) => {
        const why = cause.code === 'EADDRINUSE' ? 'somebody listens there already' : (cause.code ?? cause.message);
        reject(new UnspentError('SOURCE_UNREACHABLE', `cannot listen on ${name}: ${why}`, { name }, cause));
      });
      server.listen(where, () => {
        this.servers.push(server);
        resolve(server);
      });
    });
  }

  private accept(socket: Socket, wire: Wire): void {
    const nth = this.accepted++;
    const peer = wire === 'n2n' ? `${socket.remoteAddress}:${socket.remotePort}` : `local client ${nth + 1}`;
    const connection = new Connection(socket, wire, peer, this.chain, this.options.wiring?.(nth) ?? PLAIN_WIRING);
    this.options.onConnect?.(peer);
    const served = connection.serve().then((why) => {
      this.connections.delete(connection);
      this.options.onDisconnect?.(peer, why);
    });
    this.connections.set(connection, served);
  }
}

export function serveChain(chain: ServedChain, options: ResponderOptions): Promise<Responder> {
  return new Responder(chain, options).listen();
}

/** A socket file that nobody answers at is left over from a process that was killed. */
async function removeStale(path: string): Promise<void> {
  const refused = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => resolve(false));
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    probe.once('connect', () => probe.destroy());
  });
  if (refused) unlinkSync(path);
}
