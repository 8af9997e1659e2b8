/** A reader for tests: a fold in memory, filled by the pump from a source, that can wait for what it should come to. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMemory } from '../../../src/engine/memory.ts';
import { type BitcoinLedger, type BitcoinNetwork, bitcoinLedger } from '../../../src/ledgers/bitcoin/index.ts';
import { chainProjection } from '../../../src/projections/chain.ts';
import { transactionsProjection } from '../../../src/projections/transactions.ts';
import { utxoProjection } from '../../../src/projections/utxo.ts';
import { type FollowResult, follow } from '../../../src/sources/follow.ts';
import type { Source } from '../../../src/sources/source.ts';
import { deltaColumn } from '../../../src/state/delta.ts';
import { Fold } from '../../../src/state/fold.ts';
import { PruneSchedule } from '../../../src/state/prune-schedule.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

/** Those that follow. A test that fails does not end its own, which would then follow for ever and keep the process. */
const started = new Set<Reader>();
after(async () => {
  for (const reader of started) await reader.end().catch(() => {});
});

export class Reader {
  readonly ledger: BitcoinLedger;
  readonly fold: Fold;
  rollbacks = 0;
  private stop = new AbortController();
  private running: Promise<FollowResult> | null = null;

  constructor(network: BitcoinNetwork, window = 1000) {
    this.ledger = bitcoinLedger(network);
    const projections = [chainProjection(), transactionsProjection(this.ledger), utxoProjection(this.ledger)];
    const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
    const windows = { pruneDepth: window, rollbackWindow: window };
    this.fold = new Fold(engine, this.ledger, projections, { utxo: true, partial: false, selfContained: false, fsync: false, ...windows });
  }

  get tip(): string {
    return this.fold.head === null ? '' : toHex(this.fold.head.hash);
  }

  /** Reads to the tip and stops there. */
  sync(source: Source): Promise<FollowResult> {
    return this.pump(source, false);
  }

  /** Follows until `end`. */
  start(source: Source): void {
    this.stop = new AbortController();
    this.running = this.pump(source, true);
    started.add(this);
    // What it ends with is told by `end`.
    this.running.catch(() => {});
  }

  async end(): Promise<void> {
    started.delete(this);
    this.stop.abort();
    await this.running;
  }

  /** Waits until the newest block is this one. */
  async reach(hash: Uint8Array): Promise<void> {
    await until(
      () => this.tip === toHex(hash),
      () => `at ${this.fold.head?.height ?? 'none'}`,
      this.running,
    );
  }

  private pump(source: Source, forEver: boolean): Promise<FollowResult> {
    const schedule = new PruneSchedule(this.fold, { batchBlocks: 1000, intervalMs: 0 });
    return follow(source, this.fold, this.ledger, {
      until: { kind: 'end' },
      follow: forEver,
      groupBlocks: 100,
      signal: this.stop.signal,
      onProgress: () => schedule.tick(),
      onRollback: () => this.rollbacks++,
    });
  }
}

/** Waits for something to come true; fails when it does not, or when what should bring it about has ended. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  where: () => string = () => '',
  running: Promise<unknown> | null = null,
): Promise<void> {
  let ended = false;
  running?.then(
    () => (ended = true),
    () => (ended = true),
  );
  for (const deadline = Date.now() + PATIENCE_MS; !(await isSo()); await sleep(5)) {
    if (ended) {
      await running;
      assert.fail(`the source ended too early ${where()}`);
    }
    assert.ok(Date.now() < deadline, `did not come to it in time ${where()}`);
  }
}
