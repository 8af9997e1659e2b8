/**
 * A random chain of the Bitcoin family in a store that prunes after each block.
 * Some blocks are undone, and their transactions wait, because the next blocks
 * have others: what they have spent completely is due in the end, and blocked by
 * them.
 */
import { bitcoinLedger, formatId } from '../../../src/ledgers/bitcoin/index.ts';
import type { OpenStore } from '../../../src/store/store.ts';
import { PlainChain } from '../../support/bitcoin-chain.ts';

const SEED = 9;
const BLOCKS = 60;
const UNDONE = 8;

/** `retention`: of the store. Returns the ids of all transactions there were, as people write them. */
export async function fillWithBlocked(store: OpenStore, retention: number): Promise<ReadonlySet<string>> {
  const chain = new PlainChain(SEED, { txsMax: 4 });
  const ledger = bitcoinLedger(chain.network);
  const all = new Set<string>();
  const mine = async (): Promise<void> => {
    const { raw, height, txs } = chain.mine();
    store.fold.apply([ledger.decode(raw, height)]);
    await store.txs!.catchUp();
    if (height === 0) return;
    for (const { id } of txs) all.add(formatId(id));
    await store.txs!.pass();
  };
  while ((chain.tip?.height ?? -1) < BLOCKS) await mine();
  store.rollback(chain.blocks.at(-1 - UNDONE)!);
  await store.txs!.catchUp();
  chain.rollback(UNDONE);
  for (let n = 0; n < UNDONE + retention + 1; n++) await mine();
  return all;
}
