/** While a chain is followed, the transaction store hears of the mempool of its node: what waits there needs its parents. */
import { needBitcoin } from '../../families/bitcoin.ts';
import { MempoolLink } from '../../server/mempool/link.ts';
import type { OpenStore } from '../../store/store.ts';
import { aborted } from '../interrupt.ts';

/** Until the signal comes. Throws what a change of the records throws. */
export async function followTxs(store: OpenStore, signal: AbortSignal): Promise<void> {
  const { txs } = store;
  if (txs === null) return;
  const { mweb } = needBitcoin(store.network, 'a transaction store').parameters;
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const link = new MempoolLink(store);
  link.start(async (changes) => {
    try {
      for (const change of changes) await txs.take(change, mweb);
    } catch (error) {
      fail(error);
    }
  });
  try {
    await Promise.race([aborted(signal), failed]);
  } finally {
    link.close();
  }
}
