/**
 * Which scripts the new blocks of a move touch: those whose subscribers may have
 * to be told.
 */
import { describeOutput, scriptKey } from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { ChainMove } from '../../../query/chain-difference.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { ELECTRUM_ASKED_SCRIPTS_MAX } from '../../../util/limits.ts';

/** Hex of the keys of all scripts that the new blocks pay to or spend from; null: ask each of the `watched` scripts instead. */
export function touchedBy(query: Query, { blocks }: ChainMove, watched: number): Set<string> | null {
  if (blocks === null || watched <= ELECTRUM_ASKED_SCRIPTS_MAX * blocks.length) return null;
  const names = new Set<string>();
  try {
    for (const row of blocks) addTouched(query, row, names);
    return names;
  } catch (error) {
    if (isUnspentError(error, 'PRUNED')) return null;
    throw error;
  }
}

function addTouched(query: Query, row: ChainRow, names: Set<string>): void {
  const { created, spent } = query.changes(row);
  for (const list of [created, spent]) {
    for (const { output } of list) names.add(toHex(scriptKey(describeOutput(output.raw).script)));
  }
}
