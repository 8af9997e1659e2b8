/**
 * What an address or a credential holds, added up: as it is kept, where the
 * store keeps balances, otherwise from its outputs, in slices, because there may
 * be many.
 */
import type { KeyKind } from '../../../ledgers/ledger.ts';
import { BalanceSum } from '../../../query/balance.ts';
import type { Query } from '../../../query/query.ts';
import type { Balance } from '../../../query/view.ts';
import type { Task } from '../../http/work/task.ts';
import type { BlockfrostAnswers } from './answer.ts';

interface Owner {
  readonly kind: KeyKind;
  readonly key: Uint8Array;
}

export function balanceOf(query: Query, { traits }: BlockfrostAnswers, { kind, key }: Owner, task: Task): Balance | Promise<Balance> {
  const stored = query.storedBalance(kind, key);
  if (stored !== null) return stored;
  const sum = new BalanceSum(traits);
  const add = (utxo: Parameters<BalanceSum['add']>[0]): boolean => {
    sum.add(utxo);
    return true;
  };
  return task.inSlices(query.byKey(kind, key), add, () => sum.end());
}
