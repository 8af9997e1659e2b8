/**
 * A local node's mempool as a feed: what comes into it and what leaves it, by
 * its monitor (LocalTxMonitor). The monitor tells when something has changed and
 * gives all there is, so each look is compared with the one before.
 *
 * What was submitted here is known to be in the mempool from the moment the node
 * took it: a look that was acquired after that and lacks it says that it has left.
 */
import { splitTx } from '../../../ledgers/cardano/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { PENDING_BYTES_MAX, TX_MONITOR_LOOK_MS } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import { mempoolDifference } from '../../mempool-difference.ts';
import type { MempoolChange, MempoolFeed } from '../../source.ts';
import { Gate } from './gate.ts';
import type { NodeLedger } from './ledger-feed.ts';
import type { MempoolView } from './mempool-view.ts';
import type { N2cClient } from './n2c-client.ts';

type Listener = (change: MempoolChange) => void;

export class NodeMempool implements MempoolFeed {
  private readonly ledger: NodeLedger;
  private readonly lookMs: number;
  private readonly listeners = new Set<Listener>();
  private readonly watched = new Gate();
  /** Ids in hex of what the listeners know to be there. */
  private told: ReadonlySet<string> = new Set();
  /** Ids in hex of what the node took since the last look was acquired. */
  private readonly submitted = new Set<string>();

  constructor(ledger: NodeLedger, lookMs = TX_MONITOR_LOOK_MS) {
    this.ledger = ledger;
    this.lookMs = lookMs;
  }

  /** All begin anew with a new listener: the transactions are not kept here. */
  watch(listener: Listener): () => void {
    this.listeners.add(listener);
    this.told = new Set();
    this.watched.open();
    return () => this.listeners.delete(listener);
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    const id = await this.ledger.submit(raw);
    this.submitted.add(toHex(id));
    return id;
  }

  /** Tells of the mempool behind one connection, while somebody listens. Resolves when the connection has ended. */
  async follow(client: N2cClient): Promise<void> {
    const { mux } = client;
    void mux.closed.then(() => this.watched.open());
    try {
      while (mux.failure === null) {
        if (this.listeners.size > 0) await this.listen(client);
        else await this.watched.wait();
      }
    } catch (error) {
      // Who follows the connection hears of it there.
      if (mux.failure === null) mux.fail(asPeerFailure(error, mux.peer));
    } finally {
      // The next connection may lead to another node, or to this one without what it had.
      if (this.told.size + this.submitted.size > 0) this.tell({ kind: 'reset' });
      this.told = new Set();
      this.submitted.clear();
    }
  }

  private async listen(client: N2cClient): Promise<void> {
    this.countSubmitted();
    await client.mempool(async (first) => {
      for (let view = first; ; view = await view.changed()) {
        const started = performance.now();
        await this.look(view);
        await pause(started + this.lookMs - performance.now(), { ref: false });
        if (this.listeners.size === 0 || client.mux.failure !== null) return;
        this.countSubmitted();
      }
    });
  }

  private countSubmitted(): void {
    this.told = new Set([...this.told, ...this.submitted]);
    this.submitted.clear();
  }

  private async look(view: MempoolView): Promise<void> {
    const present = new Map<string, Uint8Array>();
    for (const { tx } of await view.txs(PENDING_BYTES_MAX)) {
      const id = idOf(tx);
      if (id !== null) present.set(id, tx);
    }
    const changes = mempoolDifference(this.told, present, view.slot);
    this.told = new Set(present.keys());
    for (const change of changes) this.tell(change);
  }

  private tell(change: MempoolChange): void {
    for (const listener of [...this.listeners]) listener(change);
  }
}

/** In hex. Null: bytes of an era that we do not know, which come with their block. */
function idOf(tx: Uint8Array): string | null {
  try {
    return toHex(splitTx(tx).tx.id);
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID')) return null;
    throw error;
  }
}

function asPeerFailure(error: unknown, peer: string): UnspentError {
  if (error instanceof UnspentError) return error;
  return new UnspentError('CLOSED', `the mempool of ${peer} cannot be read: ${(error as Error).message}`, {}, error);
}
