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
  on: 'embedded',
  off: 'off',
  shapesStore: true,
  doc: 'Bitcoin family: keep a record of every transaction until nobody can need it any more (docs/transactions.md). `embedded`: in the database of the store, in the batch of each block. Only a new store can be given one.',
} as const satisfies Switch;
