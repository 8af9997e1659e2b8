/** How the crash tests open a store: small windows, and memtables so small that tables are written and merged all the time. */
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import type { GenesisPair } from './crash-tree.ts';

/** What a store of the crash tests is like. */
export interface StoreKind {
  readonly selfContained: boolean;
  /** How it is worked on this time. */
  /** Further settings, as `key=value`. */
  readonly set?: readonly string[];
  /** False: it keeps its shape, whatever the settings say. */
  readonly reshape?: boolean;
}

export const PRUNE_DEPTH = 60;
const ROLLBACK_WINDOW = 120;

/**
 * What a killed process has written stays written on any file system; one in
 * memory lets us kill more of them. UNSPENT_TEST_FOLDER names another.
 */
export function temporaryFolder(): string {
  const { UNSPENT_TEST_FOLDER } = process.env;
  return mkdtempSync(join(UNSPENT_TEST_FOLDER ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir()), 'unspent-crash-'));
}

/** What a store of the Bitcoin family keeps besides, and what is off by default. */
const KEEP_BITCOIN = ['utxo.balances=true', 'proofs.setHash=true'];

/** `genesis` null: of the Bitcoin family (`Tree.genesis`). */
export function openCrashStore(data: string, genesis: GenesisPair | null, kind: StoreKind): Promise<OpenStore> {
  const set = [
    `utxo.pruneDepth=${PRUNE_DEPTH}`,
    `utxo.rollbackWindow=${ROLLBACK_WINDOW}`,
    'utxo.pruneBatchSize=10',
    // Pruning is an operation of its own here.
    'utxo.pruneScheduleSeconds=86400',
    'engine.memtableBytes=1000000',
    'engine.cacheBytes=1000000',
    `utxo.delta.selfContained=${kind.selfContained}`,
    'utxo.history=true',
    ...(genesis === null ? KEEP_BITCOIN : []),
    ...(kind.set ?? []),
  ];
  const chain = genesis === null ? { network: 'bitcoin-regtest' } : { network: 'devnet', genesis };
  return openStore({ data, ...chain, config: loadConfig({ flags: { set } }).config, reshape: kind.reshape ?? true });
}
