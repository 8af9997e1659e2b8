/**
 * Feeds wallets from a store that this process has open: with its blocks, with
 * the past of new wallets from its indexes, and, while it follows, with the
 * mempool of the node that the store follows.
 */
import { positionHeight } from '../../events/position.ts';
import type { OpenStore } from '../../store/store.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import type { FamilyWallets } from '../../wallet/family-wallets.ts';
import { checkFedNetwork } from '../../wallet/fed-network.ts';
import { besideMempool, type ListenMempool } from '../../wallet/feed/beside-mempool.ts';
import { rescanHeight } from '../../wallet/feed/rescan-marker.ts';
import { WalletFeed } from '../../wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../wallet/feed/wallet-mempool.ts';
import { MempoolLink } from '../mempool/link.ts';
import { WALLETS_NOT_FED } from './not-fed.ts';

export interface FeedWalletsOptions {
  /** Undefined: up to the newest block of the store, and no further. Otherwise until it comes. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Throws UNSUPPORTED where the store does not keep what it takes, NETWORK_WRONG where it is of another network, EXPIRED
 * where it cannot tell any more what happened since the wallets were fed.
 */
export async function feedWallets(wallets: FamilyWallets, store: OpenStore, { signal }: FeedWalletsOptions = {}): Promise<void> {
  checkSameNetwork(wallets, store);
  await checkFedNetwork(wallets.store, wallets.network.name);
  const { feed, source, prepare, otherOwners, mempoolTx, accountCount = () => 0 } = wallets.chainOf(store, signal === undefined);
  const { now, eventsMax } = wallets;
  let height = 0;
  const look = async (): Promise<void> => {
    const position = await wallets.store.feedPosition(feed);
    const rescan = rescanHeight(position);
    // Wallets that were never fed begin behind the newest block.
    height = position === null ? 0 : rescan === null ? positionHeight(position) : rescan - 1;
    const isFed = position !== null && rescan === null;
    store.consumers.wallets = {
      ...(store.consumers.wallets ?? WALLETS_NOT_FED),
      state: 'following',
      height: isFed ? height : null,
      lastError: null,
    };
  };
  const onMove = async (): Promise<void> => {
    await look();
    await mempool.moved();
  };
  await look();
  const leave = store.consumers.add('wallets', () => height);
  const onTook = (seconds: number): void => {
    const { blocks, blockSeconds, ...rest } = store.consumers.wallets ?? WALLETS_NOT_FED;
    store.consumers.wallets = { ...rest, blocks: blocks + 1, blockSeconds: blockSeconds + seconds };
  };
  const chain = new WalletFeed(wallets.store, { feed, now, prepare, otherOwners, onMove, onTook, eventsMax });
  const mempool = new WalletMempool(chain, mempoolTx);
  try {
    if (signal === undefined) await chain.follow(source, new AbortController().signal);
    else await besideMempool({ mempool, accountCount, listen: listenTo(store) }, signal, (stop) => chain.follow(source, stop));
  } catch (error) {
    // PRUNED: a block that the wallets have still to read has transactions whose bytes were forgotten meanwhile.
    if (!isUnspentError(error, 'EXPIRED') && !isUnspentError(error, 'PRUNED')) throw error;
    throw new UnspentError(
      'EXPIRED',
      'the store cannot tell any more what happened since the wallets were fed: `unspent wallet rescan` brings the wallets to its newest block from its history',
      error.meta,
      error,
    );
  } finally {
    leave();
  }
}

/** Throws NETWORK_WRONG. */
export function checkSameNetwork({ network }: FamilyWallets, store: Pick<OpenStore, 'network'>): void {
  if (store.network.name === network.name) return;
  throw new UnspentError('NETWORK_WRONG', `the wallets are of ${network.name}, and the store is of ${store.network.name}`);
}

/** That of the node which the store follows. */
function listenTo(store: OpenStore): ListenMempool {
  return (take) => {
    const link = new MempoolLink(store);
    link.start(async (changes) => {
      for (const change of changes) await take(change);
    });
    return link;
  };
}
