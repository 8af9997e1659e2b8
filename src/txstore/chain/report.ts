/**
 * How a transaction store is doing, as plain data that can be sent to another
 * thread: what the command line, the HTTP API, the metrics and the page say.
 */
import type { BacklogReport, BacklogState } from '../prune/backlog.ts';
import type { KeptParent } from '../prune/chunk.ts';
import type { PassEnd } from '../prune/counters.ts';
import type { MissingParent } from '../prune/pass.ts';
import type { PassOutcome, Pruner } from '../prune/pruner.ts';
import type { SkipReason } from '../rules/gates.ts';
import type { KeepReason } from '../rules/verdict.ts';
import type { TxStoreSettings } from '../store.ts';

/** A record that is due and may not go, because of which spender. */
export interface BlockedTx {
  /** As people write ids. */
  readonly txId: string;
  /** The height at which it was due. */
  readonly since: number;
  readonly reason: KeepReason;
  /** The first that stands in the way; null: the record itself says no. */
  readonly child: string | null;
}

export interface PassReport {
  readonly height: number;
  readonly end: PassEnd;
  /** Why it was skipped. */
  readonly reason: SkipReason | null;
  readonly deleted: number;
  readonly kept: number;
  /** Why it was aborted. */
  readonly error: string | null;
}

/** Somebody who takes in the blocks of the store. */
export interface ConsumerReport {
  readonly name: string;
  /** Up to which it has stored them; 0: nothing yet. */
  readonly height: number;
  /** The height up to which records may go because of it; null: it limits nothing. */
  readonly allows: number | null;
}

export interface TxsReport extends TxStoreSettings {
  /** Where the records rest. */
  readonly place: 'embedded' | 'sqlite' | 'postgres';
  /** Of the block that the records are at. */
  readonly height: number;
  /** Why the database of the records does not answer; null: it does. */
  readonly feedFailure: string | null;
  readonly consumers: readonly ConsumerReport[];
  readonly state: BacklogState;
  /** The height of the last pass that looked at everything, in this process or before; 0: none did. */
  readonly completed: number;
  /** The highest height for which something was deleted; 0: nothing was. */
  readonly prunedHeight: number;
  /** Under the names of the metrics. */
  readonly gauges: Readonly<Record<string, number>>;
  readonly counters: Readonly<Record<string, number>>;
  readonly durations: readonly DurationReport[];
  /** Of this process; null: there was none. */
  readonly lastPass: PassReport | null;
  /** Due longest first, a bounded number. */
  readonly blocked: readonly BlockedTx[];
}

export interface DurationReport {
  readonly name: string;
  readonly count: number;
  readonly sum: number;
  readonly atMost: readonly (readonly [bound: number, count: number])[];
}

export type FormatId = (id: Uint8Array) => string;

export function blockedTx({ txId, since, reason, child }: KeptParent, formatId: FormatId): BlockedTx {
  return { txId: formatId(txId), since, reason, child: child === null ? null : formatId(child) };
}

export function passReport({ error, ...outcome }: PassOutcome): PassReport {
  return { ...outcome, error: error === null ? null : errorText(error) };
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function backlogText({ kind, state, lag }: BacklogReport): string {
  if (kind === 'recover') return 'pruning: it keeps up again';
  const again = kind === 'repeat' ? 'still ' : '';
  return state === 'behind'
    ? `pruning: it is ${again}behind, by ${lag} blocks`
    : `pruning: a pass ${again}takes nearly as long as a block comes`;
}

export function missingText(pairs: readonly MissingParent[], formatId: FormatId): string {
  const [{ missing, neededBy }] = pairs;
  const more = pairs.length === 1 ? '' : `, and ${pairs.length - 1} more are missing`;
  return `pruning: transaction ${formatId(missing)} is missing, which ${formatId(neededBy)} needs${more}`;
}

export function durationReports({ counters }: Pruner): readonly DurationReport[] {
  return [...counters.durations()].map(([name, { count, sum, atMost }]) => ({ name, count, sum, atMost: [...atMost] }));
}
