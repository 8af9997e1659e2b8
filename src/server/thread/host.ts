/**
 * A server that listens, over an engine, in whichever thread this runs: what
 * `worker.ts` does in a thread of its own and `serve` in the caller's.
 */

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/schema.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Network } from '../../families/family.ts';
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import type { PublishedCopy } from '../../publish/remote/copy.ts';
import type { LogLine } from '../../util/log.ts';
import { nextTurn } from '../../util/time-slice.ts';
import { buildApp } from '../app.ts';
import type { ServerContext } from '../context.ts';
import { bindingOf } from '../http/shared-port.ts';
import { Workload } from '../http/work/workload.ts';
import { MempoolKeeper } from '../mempool/keeper.ts';
import { CopyReads, EngineReads } from '../reads.ts';
import { openShapes, type PortsByShape, type ShapeServer } from '../shapes.ts';
import type { FigureExchange } from './figures.ts';
import { cannotListen } from './listen-error.ts';
import type { LiveStatus, LiveUpdate } from './live.ts';
import { LiveReceiver } from './live-receiver.ts';
import type { FollowedNode } from './node-link.ts';

export interface HostParts {
  readonly engine: Engine;
  /** The published copy that the engine is of; absent: it is the store's own. */
  readonly copy?: PublishedCopy;
  readonly network: Network;
  readonly config: Config;
  /** Names of the projections the store keeps. */
  readonly projections: readonly string[];
  readonly status: LiveStatus;
  /** The one that is followed. */
  readonly node: FollowedNode;
  /** Those that wire shapes with listeners of their own shall listen on. */
  readonly ports: PortsByShape;
  /** Among how many threads the limits are divided. Default: this one has all. */
  readonly threads?: number | undefined;
  /** What the others count; absent: there are none. */
  readonly figures?: FigureExchange | undefined;
  /** What goes wrong, a line each. */
  readonly log: LogLine;
}

export interface Listening {
  /** Where the page is; the API is below it. */
  readonly url: string;
  /** Those that wire shapes with listeners of their own listen on. */
  readonly ports: PortsByShape;
}

/** Something that was opened and must be closed. */
interface Closable {
  close(): Promise<void>;
}

export class Host {
  readonly listening: Listening;
  private readonly servers: readonly Closable[];
  private readonly reads: EngineReads;
  private readonly live: LiveReceiver;
  private readonly keeper: MempoolKeeper | null;

  private constructor(parts: Pick<HostInside, 'reads' | 'live' | 'keeper'>, servers: readonly Closable[], listening: Listening) {
    ({ reads: this.reads, live: this.live, keeper: this.keeper } = parts);
    this.servers = servers;
    this.listening = listening;
  }

  /** Resolves when it listens. Throws CONFIG for a setting that is not safe, IO where the system does not let it listen. */
  static async open(parts: HostParts): Promise<Host> {
    const inside = insideOf(parts);
    const servers: Closable[] = [];
    const shapes = new Map<string, ShapeServer>();
    try {
      const app = await buildApp(inside.context, { log: parts.log });
      servers.push(app);
      const url = await listen(app, parts.config.server);
      await openShapes(inside.context, app, parts.ports, shapes, parts.log);
      const ports = Object.fromEntries([...shapes].map(([name, server]) => [name, server.ports]));
      return new Host(inside, [...servers, ...shapes.values()], { url, ports });
    } catch (error) {
      await closeAll([...servers, ...shapes.values()]);
      inside.keeper?.close();
      inside.reads.close();
      throw error;
    }
  }

  take(update: LiveUpdate): void {
    this.live.take(update);
    if (update.moved) this.reads.moved();
  }

  takeMempool(changes: readonly MempoolChange[]): void {
    this.keeper?.take(changes);
  }

  /** When it resolves, nothing here reads the store any more. */
  async close(): Promise<void> {
    this.keeper?.close();
    await closeAll(this.servers);
    // Streams that were cut give back what they hold in turns of their own.
    for (let turns = 0; this.reads.snapshots > 1 && turns < 100; turns++) await nextTurn();
    this.reads.close();
  }
}

interface HostInside {
  readonly reads: EngineReads;
  readonly live: LiveReceiver;
  readonly keeper: MempoolKeeper | null;
  readonly context: ServerContext;
}

function insideOf({ engine, copy, network, config, projections, status, node, threads, figures }: HostParts): HostInside {
  const reads = copy === undefined ? new EngineReads(engine, network.ledger) : new CopyReads(copy.engine, network.ledger);
  const live = new LiveReceiver(status);
  // Registered first, so that it hears of moves before all others.
  const keeper = keeperOf(network, projections, reads, node);
  const context: ServerContext = {
    network,
    config,
    ...(copy === undefined ? { data: config.data } : {}),
    projections,
    reads,
    live,
    ...(copy === undefined ? {} : { copy }),
    mempool: keeper?.mempool ?? null,
    workload: new Workload(threads),
    ...(figures === undefined ? {} : { figures }),
    // Where there is no mempool to hold it against, it goes to the node alone.
    submit: (raw) => (keeper ?? node).submit(raw),
    ledger: (question) => node.ledger(question),
  };
  return { reads, live, keeper, context };
}

/** Null where there is no mempool to speak of, or no unspent set to hold it against. */
function keeperOf(network: Network, projections: readonly string[], reads: EngineReads, node: FollowedNode): MempoolKeeper | null {
  const mempool = network.family.mempool?.(network);
  return mempool === undefined || !projections.includes('utxo') ? null : new MempoolKeeper(reads, mempool, (raw) => node.submit(raw));
}

async function listen(app: FastifyInstance, { host, port }: Config['server']): Promise<string> {
  try {
    await app.listen(await bindingOf(host, port));
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port);
  }
  return urlOf(app.server.address() as AddressInfo);
}

/** All of them, whatever one of them says; what the first says is thrown then. */
async function closeAll(servers: readonly Closable[]): Promise<void> {
  const closed = await Promise.allSettled(servers.map((server) => server.close()));
  for (const result of closed) if (result.status === 'rejected') throw result.reason;
}

/** As a person on this machine would type it. */
function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}
