/**
 * Serves a published copy of a store over HTTP: the same API, events, wire
 * shapes and page as beside the store itself, each answer of one published
 * change. Nothing is kept here: any number of these may run, and any may end.
 */
import { loadConfig } from '../config/load.ts';
import { type Config, type SettingKey, withValues } from '../config/schema.ts';
import type { Snapshot } from '../engine/engine.ts';
import type { Network } from '../families/family.ts';
import { openNetwork } from '../families/networks.ts';
import type { Point } from '../ledgers/ledger.ts';
import type { PublishedIdentity } from '../publish/identity.ts';
import { PublishedCopy } from '../publish/remote/copy.ts';
import { Query } from '../query/query.ts';
import type { Source } from '../sources/source.ts';
import { readHead } from '../state/head.ts';
import { summaryOf } from '../store/summary.ts';
import { UnspentError } from '../util/errors.ts';
import { followedCopy } from './copy-status.ts';
import { checkBind } from './http/safety.ts';
import type { Served, ServeOptions } from './serve.ts';
import { portsOf } from './shapes.ts';
import { stderrLog } from './stderr-log.ts';
import { Host } from './thread/host.ts';
import { type FollowedNode, NodeLink } from './thread/node-link.ts';

export interface ServeCopyOptions extends Pick<ServeOptions, 'host' | 'port' | 'ports' | 'log'> {
  /** The settings of the server; what the store keeps and how long is the copy's. Default: the defaults. */
  readonly config?: Config;
  /** A node for what is submitted, and for questions about its ledger; nothing of its chain is followed. Default: none. */
  readonly source?: (network: Network) => Source;
}

/** A server of a copy that listens. */
export interface ServedCopy extends Served {
  readonly network: Network;
  readonly copy: PublishedCopy;
  /** The block that is answered from; null: before the first. */
  head(): Point | null;
}

/** Resolves when it listens. Throws COPY_UNREACHABLE, COPY_UNREADY, and what `serve` throws. */
export async function serveCopy(url: string, options: ServeCopyOptions = {}): Promise<ServedCopy> {
  const copy = await PublishedCopy.open(url);
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  // Whoever asks is told; nobody must.
  ended.catch(() => undefined);
  let host: Host | null = null;
  const close = async (): Promise<void> => {
    await host?.close();
    await copy.close();
    end();
  };
  try {
    const network = networkOf(copy.identity);
    const config = configOf(copy.identity, options);
    checkBind(config.server);
    const tell = (moved: boolean): void => host?.take({ moved, status: followedCopy(copy), timings: [] });
    await copy.follow((snapshot) => readFirst(snapshot, copy.identity, network, config), {
      onMove: () => tell(true),
      onState: () => tell(false),
      onEnd: fail,
    });
    host = await Host.open({
      engine: copy.engine,
      copy,
      network,
      config,
      projections: copy.identity.projections,
      status: followedCopy(copy),
      node: nodeOf(network, options),
      ports: portsOf(network, config, options.ports),
      log: (options.log ?? stderrLog(config)).lines('server'),
    });
    // A change may have come while it was being put together.
    tell(true);
    return { ...host.listening, ended, close, network, copy, head: () => readHead(copy.engine) };
  } catch (error) {
    await close();
    throw error;
  }
}

function networkOf({ network: name, parameters, partial }: PublishedIdentity): Network {
  const network = openNetwork(name, null, parameters);
  return partial && !network.hasGenesis ? network.family.withoutGenesis(network) : network;
}

/** What the copy says of its store, over what this server was told. */
function configOf({ settings, windows, selfContained }: PublishedIdentity, options: ServeCopyOptions): Config {
  const config = withValues(options.config ?? loadConfig({}).config, {
    ...(settings as Partial<Record<SettingKey, never>>),
    'utxo.pruneDepth': windows.pruneDepth,
    'utxo.rollbackWindow': windows.rollbackWindow,
    'utxo.delta.selfContained': selfContained,
  });
  const { server } = config;
  return { ...config, server: { ...server, host: options.host ?? server.host, port: options.port ?? server.port } };
}

/** What every answer or the status needs of a change: here before the first request of it comes. */
function readFirst(snapshot: Snapshot, { columns }: PublishedIdentity, { ledger }: Network, config: Config): void {
  const names = columns.map(({ name }) => name);
  const query = new Query(snapshot, names, ledger);
  query.headRow();
  query.filling();
  summaryOf(query, config);
}

function nodeOf(network: Network, { source }: ServeCopyOptions): FollowedNode {
  if (source !== undefined) return new NodeLink({ following: { source: source(network), progress: null } });
  const refused = (): Promise<never> =>
    Promise.reject(
      new UnspentError(
        'UNSUPPORTED',
        'this server reads a published copy and has no node: start it with --source, or ask one that follows a node',
      ),
    );
  return { submit: refused, ledger: refused };
}
