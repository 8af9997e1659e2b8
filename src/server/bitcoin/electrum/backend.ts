/**
 * What the sessions of an Electrum server share: the store and the mempool
 * behind them, what is remembered between requests, and who is counted.
 */

import type { Lease } from '../../../events/shared-snapshots.ts';
import { needBitcoin } from '../../../families/bitcoin.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { switchOf } from '../../../projections/registry.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { Query } from '../../../query/query.ts';
import { UnspentError } from '../../../util/errors.ts';
import { switchText } from '../../../util/setting.ts';
import type { ServerContext } from '../../context.ts';
import type { Task } from '../../http/work/task.ts';
import { mempoolOf } from '../mempool.ts';

export type Log = (line: string) => void;

/** Where the server listens, by transport. Undefined: not at all; asked for 0: at any port that is free. */
export type ElectrumPorts = {
  readonly tcp?: number | undefined;
  readonly tls?: number | undefined;
  readonly ws?: number | undefined;
};

export class Backend {
  readonly context: ServerContext;
  readonly network: BitcoinNetwork;
  readonly mempool: Mempool;
  /** Where it listens. Known when it does. */
  ports: ElectrumPorts = {};
  private readonly log: Log;
  private readonly running = new Set<Promise<unknown>>();

  /** Throws CONFIG when the store does not keep what Electrum clients ask for. */
  constructor(context: ServerContext, log: Log) {
    this.context = context;
    this.log = log;
    this.network = needBitcoin(context.network, 'the Electrum server').parameters;
    const mempool = mempoolOf(context);
    if (mempool === null) throw new UnspentError('UNSUPPORTED', 'the Electrum server needs the mempool of its network');
    this.mempool = mempool;
    needKept(context, 'history');
    needKept(context, 'index.address');
  }

  get historyMax(): number {
    return this.context.config.electrum.historyMax;
  }

  /** The body reads at one point, for as long as it takes. It changes nothing: where rows are elsewhere it is run again. */
  read<T>(body: (query: Query) => T | Promise<T>, task?: Task): T | Promise<T> {
    const { reads } = this.context;
    return this.hold((query) => reads.attempt(() => body(query), task) as T | Promise<T>);
  }

  /** The same for a body that does more than to read, and is run once. */
  hold<T>(body: (query: Query) => T | Promise<T>): T | Promise<T> {
    const lease = this.context.reads.lease();
    try {
      const result = body(lease.query);
      if (!(result instanceof Promise)) {
        lease.release();
        return result;
      }
      return this.holding(result, lease);
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /** A failure of our own. It is told to nobody but the log, and ends nothing but its request. */
  failed(error: unknown, what: string): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.log(`electrum: ${what}: ${text}`);
  }

  /** Resolves when nothing of it reads any more. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled([...this.running]);
  }

  private holding<T>(work: Promise<T>, lease: Lease): Promise<T> {
    const held = work.finally(() => {
      lease.release();
      this.running.delete(held);
    });
    this.running.add(held);
    return held;
  }
}

function needKept({ projections, network }: ServerContext, projection: string): void {
  if (projections.includes(projection)) return;
  const setting = switchText(switchOf(projection));
  const message = `the Electrum server needs ${setting}, which this store of '${network.name}' was made without; switch it on for a new store`;
  throw new UnspentError('CONFIG', message, { setting });
}
