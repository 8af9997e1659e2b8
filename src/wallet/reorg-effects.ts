/**
 * What a reorganisation did to a wallet, read from its events: which transactions
 * lost their block, which coinbases were orphaned, and what fell with those. What
 * became of them later stands in their rows.
 */
import { toHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { WALLET_PAGE_ROWS, WALLET_REORG_TXS_MAX } from '../util/limits.ts';
import type { TxStatus, WalletEvent, WalletId } from './records.ts';
import type { Page, WalletStore } from './store.ts';

export interface ReorgEffects {
  /** Of the first event that told of it. */
  readonly sequence: number;
  /** Blocks above `to` are gone; the wallet was at `from`. */
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  /** Those of the newest block first; at most WALLET_REORG_TXS_MAX. */
  readonly txs: readonly ReorgTx[];
  /** There are more than those. */
  readonly isCut: boolean;
}

export interface ReorgTx {
  readonly txId: Uint8Array;
  /** Of the block that it lost; null: it was in none, and fell with what it spent. */
  readonly height: number | null;
  /** What it was then: `published` waits for another block. */
  readonly status: TxStatus;
}

type EventOf<Kind extends WalletEvent['kind']> = Extract<WalletEvent, { readonly kind: Kind }>;
/** Blocks that were undone by one call. */
type Rollback = EventOf<'reorg'> & { readonly sequence: number };

/** Newest first; a page goes on with those before the sequence of its key. Those of which events are forgotten are left out. */
export async function listReorgEffects(store: WalletStore, walletId: WalletId, page: Page<number>): Promise<ReorgEffects[]> {
  const effects: ReorgEffects[] = [];
  for await (const rollbacks of reorganisations(store, walletId, page.after)) {
    const known = await knownEffects(store, walletId, rollbacks);
    if (known === null) break;
    effects.push(known);
    if (effects.length === page.limit) break;
  }
  return effects;
}

/** Null: a part of them is forgotten, maybe just now. */
async function knownEffects(store: WalletStore, walletId: WalletId, rollbacks: readonly Rollback[]): Promise<ReorgEffects | null> {
  try {
    return await effectsOf(store, walletId, rollbacks);
  } catch (error) {
    if (!isUnspentError(error, 'EXPIRED')) throw error;
    return null;
  }
}

/** Newest first. A feed undoes block by block: rollbacks of which each begins where the one before ended are one reorganisation, given in their order. */
async function* reorganisations(store: WalletStore, walletId: WalletId, before: number | undefined): AsyncGenerator<readonly Rollback[]> {
  let run: Rollback[] = [];
  for (let after = before; ; after = run[0].sequence) {
    const told = await store.listReorgs(walletId, { limit: WALLET_PAGE_ROWS, after });
    for (const { sequence, event } of told) {
      const rollback = { ...(event as EventOf<'reorg'>), sequence };
      if (run.length > 0 && rollback.to !== run[0].from) {
        yield run;
        run = [];
      }
      run.unshift(rollback);
    }
    if (told.length < WALLET_PAGE_ROWS) break;
  }
  if (run.length > 0) yield run;
}

async function effectsOf(store: WalletStore, walletId: WalletId, rollbacks: readonly Rollback[]): Promise<ReorgEffects> {
  const [{ sequence, from }, { to }] = [rollbacks[0], rollbacks[rollbacks.length - 1]];
  const txs = new Map<string, ReorgTx>();
  for (const rollback of rollbacks) {
    for await (const told of rollbackEvents(store, walletId, rollback.sequence)) {
      const key = toHex(told.txId);
      if (!txs.has(key) && txs.size === WALLET_REORG_TXS_MAX)
        return { sequence, from, to, depth: from - to, txs: [...txs.values()], isCut: true };
      if (told.kind === 'tx.unconfirmed') txs.set(key, { txId: told.txId, height: told.height, status: 'published' });
      else txs.set(key, { txId: told.txId, height: txs.get(key)?.height ?? null, status: told.to });
    }
  }
  return { sequence, from, to, depth: from - to, txs: [...txs.values()], isCut: false };
}

/** What the same call told of transactions: up to its new tip, or where there is no block left up to what another call tells. */
async function* rollbackEvents(
  store: WalletStore,
  walletId: WalletId,
  sequence: number,
): AsyncGenerator<EventOf<'tx.unconfirmed'> | EventOf<'tx.status'>> {
  // The one that tells of the rollback is read once more: EXPIRED if it is forgotten, and what came before it may be, too.
  for (let after = sequence - 1; ; ) {
    const events = await store.listEvents(after, WALLET_PAGE_ROWS, walletId);
    for (const { event, sequence: at } of events) {
      if (at === sequence || event.kind === 'utxo.unspent') continue;
      if (event.kind !== 'tx.unconfirmed' && !isOfRollback(event)) return;
      yield event;
    }
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.sequence;
  }
}

function isOfRollback(event: WalletEvent): event is EventOf<'tx.status'> {
  return event.kind === 'tx.status' && event.by === null && (event.cause === 'disconnected' || event.cause === 'ancestor');
}
