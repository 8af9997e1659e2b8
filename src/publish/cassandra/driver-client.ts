/**
 * The driver's client, watched. Where connections are cut again and again it may
 * get into a state that it does not leave by itself: it looks for a new control
 * connection in a timer that nobody hears of, or sends statements without the id
 * under which a node has prepared them. Then it is of no use any more, and whoever
 * has it makes another.
 */
import cassandra, { type Client } from 'cassandra-driver';
import { CASSANDRA_ANSWER_MS, CASSANDRA_CONNECT_MS, CASSANDRA_RETRY_MS_MAX } from '../../util/limits.ts';
import type { CassandraPlace } from './place.ts';

type Refresh = (...values: unknown[]) => Promise<void>;

interface Node {
  shutdown?(waitForPending: boolean): Promise<void>;
}

/** What the driver's types leave out. */
interface Inner {
  readonly controlConnection?: {
    readonly hosts?: { set(name: string, node: Node): void };
    _refresh?: Refresh;
    shutdown?(): void;
  };
}

export class WatchedClient {
  readonly client: Client;
  /** Those included that it has lost sight of: their timers go on. */
  private readonly nodes = new Set<Node>();
  /** Looking for a control connection. */
  private refreshing: Promise<unknown> = Promise.resolve();

  /** `onBroken`: told, perhaps more than once, when it will not connect any more. */
  constructor(place: CassandraPlace, onBroken: () => void) {
    this.client = newClient(place);
    // Told by the next statement, too.
    this.client.on('error', () => undefined);
    this.watch(onBroken);
  }

  /** A failure of looking for a control connection is nobody's in the driver, and would end the process. */
  private watch(onBroken: () => void): void {
    const { controlConnection } = this.client as Inner;
    const { hosts, _refresh: refresh } = controlConnection ?? {};
    if (controlConnection === undefined || hosts === undefined || refresh === undefined) return;
    const set = hosts.set.bind(hosts);
    hosts.set = (name, node) => {
      this.nodes.add(node);
      set(name, node);
    };
    controlConnection._refresh = (...values) => {
      const work = refresh.apply(controlConnection, values).catch(onBroken);
      this.refreshing = Promise.all([this.refreshing, work]);
      return work;
    };
  }

  /**
   * Ends it, also in the middle of something: while it is connecting it takes no notice of being told to end, one that
   * never was connected goes on looking for a control connection, and its nodes try to connect for ever.
   */
  async end(connecting: Promise<void> | null): Promise<void> {
    await connecting?.catch(() => undefined);
    await this.client.shutdown().catch(() => undefined);
    (this.client as Inner).controlConnection?.shutdown?.();
    await this.shutNodes();
    // That may go on for as long as a connection takes, and begins with its nodes anew.
    void this.refreshing.then(() => this.shutNodes());
  }

  private async shutNodes(): Promise<void> {
    for (const node of this.nodes) await node.shutdown?.(false).catch(() => undefined);
  }
}

function newClient({ hosts, user, password, dataCentre }: CassandraPlace): Client {
  const { loadBalancing, reconnection, retry } = cassandra.policies;
  const { quorum, serial } = cassandra.types.consistencies;
  const nodes = dataCentre === null ? new loadBalancing.RoundRobinPolicy() : new loadBalancing.DCAwareRoundRobinPolicy(dataCentre);
  return new cassandra.Client({
    contactPoints: [...hosts],
    ...(dataCentre !== null && { localDataCenter: dataCentre }),
    ...(user !== null && { credentials: { username: user, password: password ?? '' } }),
    encoding: { useBigIntAsLong: true },
    policies: {
      loadBalancing: new loadBalancing.TokenAwarePolicy(nodes),
      reconnection: new reconnection.ConstantReconnectionPolicy(CASSANDRA_RETRY_MS_MAX),
      // Tried again by the session, which knows what may run twice.
      retry: new retry.FallthroughRetryPolicy(),
    },
    socketOptions: { connectTimeout: CASSANDRA_CONNECT_MS, readTimeout: CASSANDRA_ANSWER_MS },
    queryOptions: { consistency: quorum, serialConsistency: serial, prepare: true },
  });
}
