/**
 * Wallets fed by a server on another machine: by its blocks, by its index of
 * scripts for the past of those that are new, and, while they follow, by its
 * mempool. The other machine knows nothing of the wallets and keeps nothing for
 * them: where they are is in their own database, so they may be away for as long
 * as the server can tell what happened since.
 */
import { positionHeight } from '../../events/position.ts';
import { assert, isUnspentError, UnspentError } from '../../util/errors.ts';
import type { FamilyWallets } from '../family-wallets.ts';
import { checkFedNetwork } from '../fed-network.ts';
import { besideMempool, type ListenMempool } from './beside-mempool.ts';
import { HttpMempool } from './http-mempool.ts';
import { rescanHeight } from './rescan-marker.ts';
import type { ReconnectOptions, ServerAddress } from './server-client.ts';
import { checkServer, type ServerFacts } from './server-facts.ts';
import { WalletFeed } from './wallet-feed.ts';
import { WalletMempool } from './wallet-mempool.ts';

export interface FollowServerOptions extends ServerAddress, ReconnectOptions {
  /** Undefined: up to the newest block of the server, and no further. Otherwise until it comes. */
  readonly signal?: AbortSignal | undefined;
  /** Told once, before the first block: the server answers, and is the right one. */
  readonly onBegin?: ((server: ServerFacts) => void) | undefined;
  /** Told after each block that came or went, by this process or by another; null: before the first. */
  readonly onMove?: ((height: number | null) => void) | undefined;
}

/**
 * Throws what `checkServer` throws, UNSUPPORTED for a family whose wallets are fed beside their store only, EXPIRED where the
 * server cannot tell any more what happened since the wallets were fed.
 */
export async function followServer(wallets: FamilyWallets, options: FollowServerOptions): Promise<void> {
  const { signal, onBegin, onMove } = options;
  const stop = signal ?? new AbortController().signal;
  const server = await checkServer(wallets, options, stop);
  await checkFedNetwork(wallets.store, wallets.network.name);
  onBegin?.(server);
  const chain = wallets.chainFrom?.({ ...options, signal: stop }, signal === undefined);
  if (chain === undefined) throw new UnspentError('UNSUPPORTED', `wallets of ${wallets.network.name} are fed beside their store only`);
  const { feed, source, prepare, otherOwners, mempoolTx, accountCount = () => 0 } = chain;
  const height = async (): Promise<number | null> => {
    const position = await wallets.store.feedPosition(feed);
    return position === null || rescanHeight(position) !== null ? null : positionHeight(position);
  };
  const moved = async (): Promise<void> => {
    await mempool?.moved();
    onMove?.(await height());
  };
  const { now, eventsMax } = wallets;
  const blocks = new WalletFeed(wallets.store, { feed, now, prepare, otherOwners, onMove: moved, eventsMax });
  const mempool = signal && new WalletMempool(blocks, mempoolTx);
  const idOf = (raw: Uint8Array): Uint8Array => {
    const tx = mempoolTx(raw);
    assert(tx !== null, 'a transaction of the mempool is whole');
    return tx.id;
  };
  try {
    if (mempool === undefined) return await blocks.follow(source, stop);
    const told = new HttpMempool({ ...options, idOf, parseId: wallets.notation.parseId });
    const listen: ListenMempool = (take, fail) => listenTo(told, take, fail);
    await besideMempool({ mempool, accountCount, listen }, stop, (end) => blocks.follow(source, end));
  } catch (error) {
    // PRUNED: the server has forgotten bytes of a block that the wallets have still to read.
    if (!isUnspentError(error, 'EXPIRED') && !isUnspentError(error, 'PRUNED')) throw error;
    const message =
      'the server cannot tell any more what happened since the wallets were fed: `unspent wallet rescan` with the same server brings them to its newest block from its index of scripts';
    throw new UnspentError('EXPIRED', message, error.meta, error);
  }
}

function listenTo(told: HttpMempool, ...[take, fail]: Parameters<ListenMempool>): ReturnType<ListenMempool> {
  const end = new AbortController();
  told.follow(take, end.signal).catch(fail);
  return { close: () => end.abort() };
}
