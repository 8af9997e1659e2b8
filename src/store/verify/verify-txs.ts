/** The records of transactions of a store against its unspent set, wherever they rest. */
import type { OpenStore } from '../store.ts';
import { needTxs } from '../store-txs.ts';
import { type FedVerification, verifyFedRecords } from './fed-records.ts';
import type { Verification } from './verify.ts';

/** What checking records of transactions has found. */
export interface TxsVerification extends FedVerification, Pick<Verification, 'utxos'> {}

/** Those in a database are fed up to the newest block first. Throws UNSUPPORTED where the store keeps none. */
export async function verifyTxs(store: OpenStore, onProgress?: (what: string, rows: number) => void): Promise<TxsVerification> {
  const txs = needTxs(store);
  const { faults, faultCount, indexRows, utxos } = store.verify(onProgress, ['utxo', 'txs']);
  if (txs.place.kind === 'embedded')
    return { faults, faultCount, utxos, records: Object.values(indexRows).reduce((sum, rows) => sum + rows, 0) };
  await txs.catchUp();
  const isPartial = (store.fold.head?.missing ?? 0) > 0;
  const found = await verifyFedRecords(txs.place.records, { reader: store.engine, utxos, isPartial, onProgress });
  return { utxos, records: found.records, faults: [...faults, ...found.faults], faultCount: faultCount + found.faultCount };
}
