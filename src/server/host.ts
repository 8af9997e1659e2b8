/**
 * A server that listens, over an engine, in whichever thread this runs: what
 * `worker.ts` does in a thread of its own and `serve` in the caller's.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import type { Engine } from '../engine/engine.ts';
import type { Network } from '../networks.ts';
import { UnspentError } from '../util/errors.ts';
import { buildApp } from './app.ts';
import type { LiveStatus, LiveUpdate } from './live.ts';
import { LiveBoard } from './live-board.ts';
import { EngineReads } from './reads.ts';

export interface HostParts {
  readonly engine: Engine;
  readonly network: Network;
  readonly config: Config;
  /** Names of the projections the store keeps. */
  readonly projections: readonly string[];
  readonly status: LiveStatus;
}

export class Host {
  readonly url: string;
  private readonly app: FastifyInstance;
  private readonly reads: EngineReads;
  private readonly live: LiveBoard;

  private constructor(app: FastifyInstance, reads: EngineReads, live: LiveBoard, url: string) {
    this.app = app;
    this.reads = reads;
    this.live = live;
    this.url = url;
  }

  /** Resolves when it listens. Throws CONFIG for a setting that is not safe, IO where the system does not let it listen. */
  static async open({ engine, network, config, projections, status }: HostParts): Promise<Host> {
    const reads = new EngineReads(engine, network.ledger.traits);
    const live = new LiveBoard(status);
    const app = await buildApp({ network, config, projections, reads, live });
    const { host, port } = config.server;
    try {
      await app.listen({ host, port });
    } catch (error) {
      await app.close();
      reads.close();
      throw cannotListen(error as NodeJS.ErrnoException, host, port);
    }
    return new Host(app, reads, live, urlOf(app.server.address() as AddressInfo));
  }

  take(update: LiveUpdate): void {
    this.live.take(update);
    if (update.moved) this.reads.moved();
  }

  /** When it resolves, nobody reads any more. */
  async close(): Promise<void> {
    await this.app.close();
    // Streams that were cut give back what they hold in turns of their own.
    for (let turns = 0; this.reads.snapshots > 1 && turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    this.reads.close();
  }
}

/** As a person on this machine would type it. */
function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): UnspentError {
  const { code } = error;
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    const message = `port ${port} on ${host} is taken, perhaps by another unspent; stop that one, or choose a port with --port N`;
    return new UnspentError('IO', message, { host, port, taken: true }, error);
  }
  if (code === 'EACCES')
    return new UnspentError('IO', `listening on ${where} is not permitted; ports from 1024 on are free to use`, { host, port }, error);
  return new UnspentError(
    'IO',
    `cannot listen on ${where}: ${error.message}; server.host must be an address of this machine`,
    { host, port },
    error,
  );
}
