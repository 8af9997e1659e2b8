/** What Prometheus is told of publishing: the publishing thread counts, here its sums are written down as they are. */
import type { PublishReport } from '../../store/publishing.ts';

type Sample = readonly [name: string, type: 'counter' | 'gauge', help: string, value: (report: PublishReport) => number];

const SAMPLES: readonly Sample[] = [
  [
    'publish_leading',
    'gauge',
    '1 while this process leads the published copy.',
    ({ state }) => (state === 'publishing' || state === 'loading' ? 1 : 0),
  ],
  ['publish_epoch', 'gauge', 'Epoch of the leader of the published copy, as this process knows it.', ({ epoch }) => epoch],
  ['publish_seq', 'gauge', 'Number of the last change of the published copy.', ({ seq }) => seq],
  ['publish_height', 'gauge', 'Height of the published copy; -1: the origin.', ({ height }) => height ?? -1],
  ['publish_lag_blocks', 'gauge', 'Blocks that the store is ahead of the published copy.', ({ lag }) => lag],
  ['publish_blocks_total', 'counter', 'Blocks published.', ({ blocks }) => blocks],
  ['publish_undone_total', 'counter', 'Blocks undone in the published copy.', ({ undone }) => undone],
  ['publish_rows_total', 'counter', 'Rows put and deleted in the published copy.', ({ rows }) => rows],
  ['publish_bytes_total', 'counter', 'Bytes of those rows.', ({ bytes }) => bytes],
  ['publish_snapshots_total', 'counter', 'Times that the published copy began anew.', ({ snapshots }) => snapshots],
  ['publish_commits_total', 'counter', 'Transactions of the published copy.', ({ commits }) => commits],
  ['publish_commit_seconds_total', 'counter', 'Seconds that those transactions took.', ({ commitSecondsSum }) => commitSecondsSum],
];

/** `report` null: nothing is published, and only what there could be is named. */
export function publishMetrics(report: PublishReport | null): string {
  const lines = SAMPLES.flatMap(([name, type, help, value]) => [
    `# HELP unspent_${name} ${help}`,
    `# TYPE unspent_${name} ${type}`,
    ...(report === null ? [] : [`unspent_${name} ${value(report)}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
