/**
 * `unspent/sources`: where blocks come from. Open a source by its URL, write one
 * of your own (`Source`), or make a chain for tests.
 */
import './util/node-version.ts';

export { type DevnetSource, openDevnet } from './chains/cardano/devnet/index.ts';
export type { Block, Create, Point, Spend, Tx } from './ledgers/ledger.ts';
export { type Regtest, type RegtestStartOptions, startRegtest } from './library/bitcoin/regtest.ts';
export { openSource, type SourceOpenOptions } from './library/sources.ts';
export type { PeerStatus } from './sources/peer.ts';
export type {
  ChainEvent,
  FollowOptions,
  GenesisTexts,
  LedgerAnswers,
  LedgerFeed,
  LedgerQuestion,
  MempoolChange,
  MempoolFeed,
  OwnChain,
  Run,
  Source,
  SourceTip,
} from './sources/source.ts';
