/**
 * What Prometheus is told by a reader of a published copy: how far behind it is,
 * and what its reads take. Counted elsewhere, and written down here.
 */
import type { CopyView } from '../context.ts';

type Sample = readonly [type: 'counter' | 'gauge', help: string, value: (copy: CopyView) => number | null];

const METRICS: Readonly<Record<string, Sample>> = {
  copy_reachable: ['gauge', '1 while the database of the published copy answers.', ({ state }) => (state?.failure == null ? 1 : 0)],
  copy_change: ['gauge', 'Number of the published change that is read.', ({ head }) => head.seq],
  copy_changes_behind: [
    'gauge',
    'Published changes between the one that is read and the newest that is known.',
    ({ state, head }) => (state?.newest == null ? null : Math.max(0, state.newest.seq - head.seq)),
  ],
  copy_age_seconds: [
    'gauge',
    'Seconds since the change that is read was published.',
    ({ head }) => (head.publishedAt === null ? null : Math.max(0, (Date.now() - head.publishedAt) / 1000)),
  ],
  copy_moments: ['gauge', 'Moments of the copy that are held in its database.', ({ state }) => state?.pins ?? null],
  copy_cache_bytes: ['gauge', 'Bytes of rows of the change that is read which are kept here.', ({ figures }) => figures.cacheBytes],
  copy_reads_total: ['counter', 'Reads of the copy.', ({ figures }) => figures.reads],
  copy_repeats_total: ['counter', 'Times that a read was run again when its rows had come.', ({ figures }) => figures.repeats],
  copy_sleeps_total: ['counter', 'Times that the thread slept for rows.', ({ figures }) => figures.sleeps],
  copy_fetches_total: ['counter', 'Times that rows were asked for, each for all who wanted some.', ({ figures }) => figures.fetches],
  copy_statements_total: ['counter', 'Statements of the database.', ({ figures }) => figures.statements],
  copy_rows_total: ['counter', 'Rows that were fetched.', ({ figures }) => figures.rows],
};

/** `copy` undefined: the store is open here, and only what there could be is named. */
export function copyMetrics(copy: CopyView | undefined): string {
  const lines = Object.entries(METRICS).flatMap(([name, [type, help, value]]) => {
    const found = copy === undefined ? null : value(copy);
    return [`# HELP unspent_${name} ${help}`, `# TYPE unspent_${name} ${type}`, ...(found === null ? [] : [`unspent_${name} ${found}`])];
  });
  return `${lines.join('\n')}\n`;
}
