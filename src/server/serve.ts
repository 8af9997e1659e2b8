/**
 * Serves a store over HTTP: the API, events, metrics and the page. In a thread
 * of its own, unless told otherwise, so that a full-speed sync and a thousand
 * requests a second do not get in each other's way.
 */

import type { Config } from '../config/schema.ts';
import type { OwnedEngine } from '../engine/open.ts';
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import type { Log, LogLine } from '../util/log.ts';
import { nextTurn } from '../util/time-slice.ts';
import { offersBackups } from './backups/index.ts';
import { checkBind } from './http/safety.ts';
import { canSharePorts } from './http/shared-port.ts';
import { MempoolLink } from './mempool/link.ts';
import { type PortsByShape, portsOf } from './shapes.ts';
import { stderrLog } from './stderr-log.ts';
import { Host, type Listening } from './thread/host.ts';
import { type LiveStatus, type LiveUpdate, NOT_FOLLOWING } from './thread/live.ts';
import { type FollowedNode, NodeLink } from './thread/node-link.ts';
import { Telemetry } from './thread/telemetry.ts';
import { ServerThread } from './thread/thread.ts';
import { ServerThreads } from './thread/threads.ts';

const PORT_MAX = 65_535;

/** Where a store is served, and how. */
export interface ServeOptions {
  /** The address to listen on. Default: the setting `server.host`, which is loopback. */
  readonly host?: string;
  /** Default: the setting `server.port`. 0: any that is free. */
  readonly port?: number;
  /** Of wire shapes that listen on ports of their own, such as `{ electrum: { tcp: 0 } }`. Default: their settings; 0: any that is free. */
  readonly ports?: PortsByShape;
  /** True: a source will be followed, so that the server is not ready before that has said where it is. Default false. */
  readonly follows?: boolean;
  /** False: in the caller's thread. Default true, unless the engine is of the program's own, which one thread has. */
  readonly thread?: boolean;
  /**
   * Where what goes wrong is said. Default: on stderr, as the settings `log.level` and `log.format` say.
   * @internal
   */
  readonly log?: Log;
}

/** A server of a store that listens. */
export interface Served {
  /** Where the page is; the API is below it. */
  readonly url: string;
  /** The ports that wire shapes with listeners of their own listen on, such as `{ electrum: { tcp: 50001 } }`. */
  readonly ports: PortsByShape;
  /** Resolves when it was closed; rejects when the server failed by itself. */
  readonly ended: Promise<void>;
  /** Ends every stream and answer. The store is not closed, and must not be before this resolves; `store.close()` sees to it. */
  close(): Promise<void>;
}

/** Resolves when it listens. Throws CONFIG where others could reach it and nobody said so, IO where the port is taken. */
export async function serve(store: OpenStore, options: ServeOptions = {}): Promise<Served> {
  const config = configOf(store, options);
  checkBind(config.server);
  const link = new MempoolLink(store);
  const status: LiveStatus = options.follows === true ? { ...NOT_FOLLOWING, state: 'connecting' } : NOT_FOLLOWING;
  const wanted: Wanted = {
    config,
    status,
    ports: checkedPorts(store, config, options),
    node: new NodeLink(store),
    log: (options.log ?? stderrLog(config)).lines('server'),
  };
  const isThreaded = options.thread ?? (store.engine as Partial<OwnedEngine>).handle !== undefined;
  const listener = isThreaded ? inThread(store, wanted) : here(store, wanted);
  const telemetry = new Telemetry(store, (update) => listener.tell(update), status);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    link.close();
    closing ??= listener.close().finally(() => {
      telemetry.close();
      store.readers.delete(reader);
    });
    return closing;
  };
  const reader: { close: typeof close; url?: string } = { close };
  store.readers.add(reader);
  try {
    const { url, ports } = await listener.listening;
    reader.url = url;
    if (store.network.family.mempool !== undefined) link.start((changes) => listener.change(changes));
    // A promise of its own: if the server fails and nobody has asked to be told, the process is.
    return { url, ports, ended: listener.ended.then(() => {}), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What `serve` asks of the side that listens. */
interface Wanted {
  readonly config: Config;
  readonly status: LiveStatus;
  readonly ports: PortsByShape;
  readonly node: FollowedNode;
  readonly log: LogLine;
}

/** What `serve` needs of it. */
interface Listener {
  readonly listening: Promise<Listening>;
  readonly ended: Promise<void>;
  tell(update: LiveUpdate): void;
  /** Resolves when they are taken in. */
  change(changes: readonly MempoolChange[]): Promise<void>;
  close(): Promise<void>;
}

function inThread({ engine, network, fold }: OpenStore, { config, status, ports, node, log }: Wanted): Listener {
  const { handle } = engine as Partial<OwnedEngine>;
  if (handle === undefined) throw new UnspentError('UNSUPPORTED', "an engine of the program's own cannot be read from another thread");
  const data = {
    handle,
    columns: engine.columns,
    network: { name: network.name, parameters: network.parameters },
    config,
    projections: fold.projections.map((projection) => projection.name),
    status,
    ports,
  };
  const count = threadCount(config, network, log);
  return count === 1 ? new ServerThread(data, node, log) : new ServerThreads(data, count, node, log);
}

/** As the settings say, and one where what is served is not made for more. */
function threadCount(config: Config, { family }: OpenStore['network'], log: LogLine): number {
  const { threads } = config.server;
  if (threads === 1) return 1;
  const why = onlyOneBecause(config, family.wireShapes);
  if (why === null) return threads;
  log(`server.threads is ${threads}, and one thread serves: ${why}`, 'warn');
  return 1;
}

function onlyOneBecause(config: Config, shapes: readonly string[]): string | null {
  if (!canSharePorts()) return 'only Linux hands the connections of a port to several threads';
  if (shapes.includes('wallets') && config.wallet.database !== '') return 'wallets keep their coins in the memory of one thread';
  return offersBackups(config) ? 'backups over HTTP run one at a time, and that is known in one thread' : null;
}

function here({ engine, network, fold }: OpenStore, wanted: Wanted): Listener {
  const projections = fold.projections.map((projection) => projection.name);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let last: LiveUpdate | null = null;
  let host: Host | null = null;
  const opening = Host.open({ engine, network, projections, ...wanted });
  const listening = opening.then((opened) => {
    host = opened;
    // Blocks may have come while it was being put together.
    if (last !== null) opened.take({ ...last, moved: true });
    return opened.listening;
  });
  return {
    listening,
    ended,
    tell(update) {
      last = update;
      host?.take(update);
    },
    async change(changes) {
      host?.takeMempool(changes);
      // Others have their turn before the next ones come.
      await nextTurn();
    },
    async close() {
      await opening.then(
        (opened) => opened.close(),
        () => {},
      );
      end();
    },
  };
}

function configOf({ config, data }: OpenStore, { host, port }: ServeOptions): Config {
  const { server } = config;
  checkPort(port);
  return { ...config, data, server: { ...server, host: host ?? server.host, port: port ?? server.port } };
}

function checkedPorts({ network }: OpenStore, config: Config, { ports }: ServeOptions): PortsByShape {
  for (const given of Object.values(ports ?? {})) for (const port of Object.values(given)) checkPort(port);
  return portsOf(network, config, ports);
}

function checkPort(port: number | undefined): void {
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= PORT_MAX))
    throw new UnspentError('USAGE', `a port is a whole number from 0 to ${PORT_MAX}, not ${port}`);
}
