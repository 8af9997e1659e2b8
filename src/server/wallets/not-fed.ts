/** What is said of wallets that no block has come to yet. */
import type { WalletsReport } from '../../store/wallets-report.ts';

export const WALLETS_NOT_FED: WalletsReport = {
  state: 'following',
  height: null,
  blocks: 0,
  blockSeconds: 0,
  failures: 0,
  lastError: null,
};
