/**
 * What rollbacks took away. A block that was undone is in no column any more, so
 * the server holds on to the snapshot it saw last and, when the chain of the next
 * one does not go through that block, reads from the old one what was undone. The
 * last few are kept, bounded, and in a file beside the store (`rollback-file.ts`).
 */

import { existsSync } from 'node:fs';
import type { Lease } from '../../events/shared-snapshots.ts';
import { walk } from '../../events/walk.ts';
import type { ChainRow } from '../../projections/chain.ts';
import type { BlockChanges } from '../../query/changes.ts';
import type { Query, Utxo } from '../../query/query.ts';
import { type PointJson, Renderer, renderPoint, type UtxoJson } from '../../query/render.ts';
import { toHex } from '../../util/bytes.ts';
import { isUnspentError } from '../../util/errors.ts';
import { ROLLBACK_LOG_BLOCKS, ROLLBACK_LOG_MAX, ROLLBACK_LOG_OUTPUTS, ROLLBACK_LOG_TXS } from '../../util/limits.ts';
import type { LogLine } from '../../util/log.ts';
import type { ServerContext } from '../context.ts';
import { readRollbacks, writeRollbacks } from './rollback-file.ts';

/** A transaction of an undone block, as the old chain had it. */
export interface UndoneTx {
  readonly id: Uint8Array;
  readonly valid: boolean;
  readonly block: ChainRow;
  /** The outputs that it spent: of others that spend them now, it is known that they took its place. */
  readonly spent: readonly Pick<Utxo, 'txId' | 'index'>[];
  /** The first of those it made. */
  readonly outputs: readonly UtxoJson[];
  readonly outputCount: number;
  readonly value: bigint;
}

export interface LoggedRollback {
  /** Unix milliseconds: when the server saw it. */
  readonly time: number;
  /** The newest block that both chains have; null: the origin. */
  readonly to: PointJson | null;
  readonly undone: number;
  /** Newest first, the first of them where there were many. */
  readonly blocks: readonly ChainRow[];
  readonly txs: readonly UndoneTx[];
  /** Some transactions are left out, because there were too many or what their block did was pruned. */
  readonly isPartial: boolean;
}

export class RollbackLog {
  private readonly context: ServerContext;
  private readonly log: LogLine;
  /** The directory of the store; null: it is elsewhere, or in memory. */
  private readonly data: string | null;
  private readonly now: () => number;
  private readonly kept: LoggedRollback[];
  private readonly forget: () => void;
  private seen: Lease | null;

  constructor(context: ServerContext, log: LogLine, now: () => number = Date.now) {
    const { data } = context;
    this.context = context;
    this.log = log;
    this.data = data !== undefined && existsSync(data) ? data : null;
    this.now = now;
    this.seen = context.reads.lease();
    this.kept = this.earlier();
    this.forget = context.reads.onMove(() => this.look());
  }

  /** Newest first. */
  get rollbacks(): readonly LoggedRollback[] {
    return this.kept;
  }

  close(): void {
    this.forget();
    this.seen?.release();
    this.seen = null;
  }

  /** Those of an earlier process. */
  private earlier(): LoggedRollback[] {
    const { data, log } = this;
    if (data === null) return [];
    try {
      return readRollbacks(data, this.context.network.name);
    } catch (error) {
      log(`what earlier rollbacks took away cannot be read, and is forgotten: ${(error as Error).message}`, 'warn', 'remark');
      return [];
    }
  }

  /** What cannot be written is still shown until the process ends. */
  private write(): void {
    try {
      if (this.data !== null) writeRollbacks(this.data, this.context.network.name, this.kept);
    } catch (error) {
      this.log(`what a rollback took away cannot be kept: ${(error as Error).message}`, 'warn', 'remark');
    }
  }

  private look(): void {
    const from = this.seen;
    if (from === null) return;
    const to = this.context.reads.lease();
    this.seen = to;
    try {
      const { head } = from.query;
      // Nearly always the chain has only grown.
      if (head !== null && to.query.blockByHash(head.hash) === null) this.keep(from.query, to.query);
    } finally {
      from.release();
    }
  }

  private keep(from: Query, to: Query): void {
    const { dialect } = this.context.network;
    const renderer = new Renderer(from, dialect);
    const blocks: ChainRow[] = [];
    const txs: UndoneTx[] = [];
    let isPartial = false;
    for (const step of walk(from, to)) {
      if (step.kind === 'undone') {
        if (blocks.length < ROLLBACK_LOG_BLOCKS) blocks.push(step.row);
        const changes = txs.length < ROLLBACK_LOG_TXS ? changesOf(from, step.row) : null;
        if (changes === null) isPartial ||= step.row.txCount > 0;
        else isPartial = !addTxs(txs, step.row, changes, renderer) || isPartial;
      } else if (step.kind === 'turned') {
        this.kept.unshift({ time: this.now(), to: renderPoint(step.at, dialect), undone: step.undone, blocks, txs, isPartial });
        this.kept.length = Math.min(this.kept.length, ROLLBACK_LOG_MAX);
        this.write();
        return;
      }
    }
  }
}

/** Null: it was pruned, or the store keeps no outputs. */
function changesOf(query: Query, row: ChainRow): BlockChanges | null {
  try {
    return query.changes(row);
  } catch (error) {
    if (isUnspentError(error, 'PRUNED') || isUnspentError(error, 'UNSUPPORTED')) return null;
    throw error;
  }
}

/** Those of a block, last first; false: there was no room for all. */
function addTxs(txs: UndoneTx[], block: ChainRow, changes: BlockChanges, renderer: Renderer): boolean {
  const made = Map.groupBy(changes.created, ({ txId }) => toHex(txId));
  const spent = Map.groupBy(changes.spent, ({ spent: by }) => (by?.txId == null ? '' : toHex(by.txId)));
  for (const { id, valid } of changes.txs.toReversed()) {
    if (txs.length >= ROLLBACK_LOG_TXS) return false;
    const outputs = made.get(toHex(id)) ?? [];
    txs.push({
      id: id.slice(),
      valid,
      block,
      spent: (spent.get(toHex(id)) ?? []).map(({ txId, index }) => ({ txId: txId.slice(), index })),
      outputs: outputs.slice(0, ROLLBACK_LOG_OUTPUTS).map((utxo) => renderer.utxo({ ...utxo, spent: null })),
      outputCount: outputs.length,
      value: outputs.reduce((sum, { output }) => sum + output.value, 0n),
    });
  }
  return true;
}
