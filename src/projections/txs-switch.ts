/**
 * The setting that switches the transaction store on. It stands here because
 * settings and the store know it; the projection itself is in the room of the
 * transaction store (`txstore/chain/`), which this room does not know.
 */
import type { Switch } from '../util/setting.ts';

export const TXS_SWITCH = {
  key: 'txs.store',
  type: 'oneOf',
  values: ['off', 'embedded'],
  default: 'off',
  or: { pattern: /^(sqlite:.+|postgres(ql)?:\/\/.+)$/, text: 'sqlite:FILE, postgres://USER:PASSWORD@HOST/NAME' },
  on: 'embedded',
  off: 'off',
  shapesStore: true,
  secret: 'password',
  doc: 'Bitcoin family: keep a record of every transaction until nobody can need it any more (docs/transactions.md). `embedded`: in the database of the store, in the batch of each block; `sqlite:FILE` or `postgres://USER:PASSWORD@HOST/NAME`: in a database of their own, which is fed with the blocks of the store and needs `utxo.history`. Only a new store can be given one.',
} as const satisfies Switch;

/** Whether the records are in a database of their own. `value`: of `txs.store`. */
export function isTxsDatabase(value: string): boolean {
  return TXS_SWITCH.or.pattern.test(value);
}
