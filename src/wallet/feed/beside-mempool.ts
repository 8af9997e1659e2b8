/**
 * A feed of blocks with the mempool beside it: the two come on two ways, and end
 * together. The mempool is told from its beginning again when there are new
 * accounts, because what it had before they came was nobody's then.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { WALLET_POLL_MS } from '../../util/limits.ts';
import type { WalletMempool } from './wallet-mempool.ts';

/** Tells the mempool to `take`, all of it and then what comes and goes, until it is closed. `fail`: it cannot go on. */
export type ListenMempool = (
  take: (change: MempoolChange) => Promise<void>,
  fail: (error: unknown) => void,
) => { readonly close: () => void };

export interface ToldMempool {
  readonly mempool: WalletMempool;
  readonly listen: ListenMempool;
  /** Accounts that are known by now. */
  readonly accountCount: () => number;
}

/** Throws what either throws. */
export async function besideMempool(
  { mempool, listen, accountCount }: ToldMempool,
  signal: AbortSignal,
  body: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  let failure: { readonly error: unknown } | null = null;
  const fail = (error: unknown): void => {
    failure ??= { error };
    stop.abort();
  };
  const begin = (): { readonly close: () => void } =>
    listen(async (change) => {
      try {
        await mempool.take(change);
      } catch (error) {
        fail(error);
      }
    }, fail);
  let told = 0;
  // Nobody listens before the first account is known: a source tells a second listener what it has only when that changes next.
  let listening: { readonly close: () => void } | undefined;
  const look = setInterval(() => {
    if (accountCount() <= told) return;
    told = accountCount();
    listening?.close();
    if (listening !== undefined) void mempool.take({ kind: 'reset' });
    listening = begin();
  }, WALLET_POLL_MS).unref();
  try {
    await body(AbortSignal.any([signal, stop.signal]));
  } finally {
    clearInterval(look);
    listening?.close();
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
