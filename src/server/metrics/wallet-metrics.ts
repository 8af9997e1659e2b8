/** What Prometheus is told of the wallets beside a store: of their database as a whole, never of single wallets or addresses. */
import type { WalletsReport } from '../../store/wallets-report.ts';

type Sample = readonly [
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: (report: WalletsReport, tip: number) => number | null,
];

const SAMPLES: readonly Sample[] = [
  [
    'wallets_fed',
    'gauge',
    '1 while blocks come to the wallets, 0 while that fails or has stopped.',
    ({ state }) => (state === 'following' ? 1 : 0),
  ],
  ['wallets_height', 'gauge', 'Height of the newest block that the wallets have.', ({ height }) => height],
  [
    'wallets_lag_blocks',
    'gauge',
    'Blocks that the store is ahead of the wallets.',
    ({ height }, tip) => (height === null ? null : Math.max(0, tip - height)),
  ],
  ['wallets_blocks_total', 'counter', 'Blocks that came to the wallets, or went.', ({ blocks }) => blocks],
  [
    'wallets_block_seconds_total',
    'counter',
    'Seconds that those blocks took in the database of wallets.',
    ({ blockSeconds }) => blockSeconds,
  ],
  ['wallets_failures_total', 'counter', 'Times that feeding the wallets failed.', ({ failures }) => failures],
];

/** `report` null: no wallets are fed here, and only what there could be is named. */
export function walletMetrics(report: WalletsReport | null, tip: number): string {
  const lines = SAMPLES.flatMap(([name, type, help, value]) => {
    const found = report === null ? null : value(report, tip);
    return [`# HELP unspent_${name} ${help}`, `# TYPE unspent_${name} ${type}`, ...(found === null ? [] : [`unspent_${name} ${found}`])];
  });
  return `${lines.join('\n')}\n`;
}
