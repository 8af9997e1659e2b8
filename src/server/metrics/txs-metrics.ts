/**
 * What Prometheus is told of the records of transactions. The following side
 * counts; here its sums are written down as they are, histograms included, which
 * a library of metrics could only count itself. Names are those of the counters,
 * with our prefix.
 */
import type { TxsReport } from '../../txstore/chain/report.ts';

const COUNTERS: Readonly<Record<string, string>> = {
  prune_passes_total: 'Prune passes over records of transactions, by how they ended.',
  prune_skipped_total: 'Prune passes that a gate kept from running, by which.',
  prune_candidates_total: 'Records that were due when a pass looked at them.',
  prune_deleted_total: 'Records deleted.',
  prune_kept_total: 'Records that were due and stayed, by why.',
  prune_children_verified_total: 'Spenders that were read.',
  prune_child_batches_total: 'Batches in which spenders were read.',
  prune_child_batch_errors_total: 'Batches of spenders that could not be read; their parents stayed.',
  prune_tombstones_written_total: 'Tombstones left in parents of deleted records.',
  prune_parent_missing_total: 'Parents of deleted records that were gone already.',
  prune_blob_deleted_total: 'Transactions whose bytes went from the history with their records.',
  prune_blob_errors_total: 'Times that bytes of deleted records could not be deleted; a later pass does it.',
  prune_retries_total: 'Batches of spenders that were read again.',
};

const GAUGES: Readonly<Record<string, string>> = {
  prune_active: '1 while a prune pass over records of transactions runs.',
  prune_height_requested: 'Height of the newest pass that was asked for.',
  prune_height_completed: 'Height of the newest pass that looked at everything.',
  prune_height_allowed: 'Height up to which records may go: consumers that are behind hold it back.',
  prune_lag_blocks: 'Heights asked for since the last complete pass.',
  prune_backlog: 'Records that are due, counted up to 100,000.',
  prune_oldest_blocked_age_blocks: 'Blocks since the record that is blocked longest was due.',
  utxo_records: 'Records of transactions.',
  utxo_bytes: 'Bytes that records of transactions take on disk.',
};

const HISTOGRAMS: Readonly<Record<string, string>> = {
  prune_pass_seconds: 'One prune pass over records of transactions.',
  prune_chunk_seconds: 'One chunk of a prune pass.',
  prune_child_batch_seconds: 'One read of a batch of spenders.',
};

/** `report` null: no records are kept, and only what there could be is named. */
export function txsMetrics(report: TxsReport | null): string {
  const lines: string[] = [];
  const begin = (name: string, type: string, help: string): void =>
    void lines.push(`# HELP unspent_${name} ${help}`, `# TYPE unspent_${name} ${type}`);
  const counters = Object.entries(report?.counters ?? {});
  for (const [name, help] of Object.entries(COUNTERS)) {
    begin(name, 'counter', help);
    for (const [sample, value] of counters) if (sample === name || sample.startsWith(`${name}{`)) lines.push(`unspent_${sample} ${value}`);
  }
  for (const [name, help] of Object.entries(GAUGES)) {
    begin(name, 'gauge', help);
    if (report !== null) lines.push(`unspent_${name} ${report.gauges[name]}`);
  }
  begin('prune_consumer_height', 'gauge', 'Height up to which a consumer of the blocks has stored them, by who.');
  for (const { name, height } of report?.consumers ?? []) lines.push(`unspent_prune_consumer_height{consumer="${name}"} ${height}`);
  for (const [name, help] of Object.entries(HISTOGRAMS)) {
    begin(name, 'histogram', help);
    const found = report?.durations.find((duration) => duration.name === name);
    if (found === undefined) continue;
    for (const [bound, count] of found.atMost) lines.push(`unspent_${name}_bucket{le="${bound}"} ${count}`);
    lines.push(
      `unspent_${name}_bucket{le="+Inf"} ${found.count}`,
      `unspent_${name}_sum ${found.sum}`,
      `unspent_${name}_count ${found.count}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
