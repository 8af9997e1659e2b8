/**
 * Serves a store over HTTP: the API, events, metrics and the page. In a thread
 * of its own, unless told otherwise, so that a full-speed sync and a thousand
 * requests a second do not get in each other's way.
 */
import type { Config } from '../config/schema.ts';
import type { RocksEngine } from '../engine/rocks.ts';
import type { Store } from '../store.ts';
import { UnspentError } from '../util/errors.ts';
import { Host } from './host.ts';
import { type LiveUpdate, NOT_FOLLOWING } from './live.ts';
import { checkBind } from './safety.ts';
import { Telemetry } from './telemetry.ts';
import { ServerThread } from './thread.ts';

const PORT_MAX = 65_535;

export interface ServeOptions {
  /** Default: the settings `server.host` and `server.port`. Port 0: any that is free. */
  readonly host?: string;
  readonly port?: number;
  /** False: in the caller's thread. Default true. */
  readonly thread?: boolean;
}

export interface Served {
  /** Where the page is; the API is below it. */
  readonly url: string;
  /** Resolves when it was closed; rejects when the server failed by itself. */
  readonly ended: Promise<void>;
  /** Ends every stream and answer. The store is not closed, and must not be before this resolves; `store.close()` sees to it. */
  close(): Promise<void>;
}

/** Resolves when it listens. Throws CONFIG where others could reach it and nobody said so, IO where the port is taken. */
export async function serve(store: Store, options: ServeOptions = {}): Promise<Served> {
  const config = configOf(store.config, options);
  checkBind(config.server);
  const listener = options.thread === false ? here(store, config) : inThread(store, config);
  const telemetry = new Telemetry(store, (update) => listener.tell(update));
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= listener.close().finally(() => {
      telemetry.close();
      store.readers.delete(reader);
    });
    return closing;
  };
  const reader = { close };
  store.readers.add(reader);
  try {
    const url = await listener.url;
    // A promise of its own: if the server fails and nobody has asked to be told, the process is.
    return { url, ended: listener.ended.then(() => {}), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What `serve` needs of the side that listens. */
interface Listener {
  readonly url: Promise<string>;
  readonly ended: Promise<void>;
  tell(update: LiveUpdate): void;
  close(): Promise<void>;
}

function inThread({ engine, network, fold }: Store, config: Config): Listener {
  const { handle } = engine as Partial<RocksEngine>;
  if (handle === undefined) throw new UnspentError('UNSUPPORTED', 'only a store on RocksDB can be served from another thread');
  return new ServerThread({
    handle,
    columns: engine.columns,
    network: { name: network.name, parameters: network.parameters },
    config,
    projections: fold.projections.map((projection) => projection.name),
    status: NOT_FOLLOWING,
  });
}

function here({ engine, network, fold }: Store, config: Config): Listener {
  const projections = fold.projections.map((projection) => projection.name);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let last: LiveUpdate | null = null;
  let host: Host | null = null;
  const opening = Host.open({ engine, network, config, projections, status: NOT_FOLLOWING });
  const url = opening.then((opened) => {
    host = opened;
    // Blocks may have come while it was being put together.
    if (last !== null) opened.take({ ...last, moved: true });
    return opened.url;
  });
  return {
    url,
    ended,
    tell(update) {
      last = update;
      host?.take(update);
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

function configOf(config: Config, { host, port }: ServeOptions): Config {
  const { server } = config;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= PORT_MAX))
    throw new UnspentError('USAGE', `a port is a whole number from 0 to ${PORT_MAX}, not ${port}`);
  return { ...config, server: { ...server, host: host ?? server.host, port: port ?? server.port } };
}
