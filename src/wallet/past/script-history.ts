/**
 * The past of scripts, from the index of a store that keeps the history: which
 * scripts were ever used, and the transactions of those that were. This is how a
 * wallet finds its past without a look at any block. What a script is in the index
 * and how a transaction is read is the family's (`PastForm`).
 *
 * The store may have forgotten the bytes of a transaction, all of whose outputs
 * are spent (`txs.boundHistory`). Its id and its place are still known, and so is
 * who spent an outpoint: a forgotten transaction is told with the outpoints it
 * is known to have spent, so that no coin that it spent is taken for unspent.
 */

import type { KeyKind } from '../../ledgers/ledger.ts';
import { type Outpoint, outpointKey, outpointText } from '../../ledgers/outpoint.ts';
import type { Clock } from '../../query/dialect.ts';
import type { HistoryPlace, TxHistory } from '../../query/history.ts';
import type { Query } from '../../query/query.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { type FollowedStore, walletBlock } from '../feed/store-feed.ts';
import type { OtherOwners } from '../feed/wallet-feed.ts';
import type { WalletBlock, WalletTx } from '../records.ts';

/** How a family's transactions are found and read. */
export interface PastForm {
  /** Under which key the history has the script, or the address. */
  keyOf(script: Uint8Array): { readonly kind: KeyKind; readonly key: Uint8Array };
  txOf(raw: Uint8Array): WalletTx;
  /** Default: there are none. */
  readonly otherOwners?: OtherOwners | undefined;
}

/** What a scan asks of the chain. */
export interface ScriptHistory {
  /** Throws PRUNED where the history begins above the height, UNSUPPORTED where the store keeps none. */
  needFrom(height: number): void;
  /** Whether each was ever paid, in their order. Throws UNSUPPORTED where the store keeps no history. */
  used(scripts: readonly Uint8Array[]): readonly boolean[];
  /**
   * What paid to them or spent from them up to that block, and what spent the coins, in the order of the chain; null: the
   * block is not on the chain any more.
   */
  txsUpTo(block: WalletBlock, scripts: readonly Uint8Array[], coins?: readonly Outpoint[]): readonly ConfirmedTx[] | null;
}

export interface ConfirmedTx {
  /** Where its bytes were forgotten (`isPruned`) `raw` is empty, and it has no outputs and only the inputs that are known. */
  readonly tx: WalletTx;
  readonly block: WalletBlock;
}

export function storeHistory(store: Pick<FollowedStore, 'read'>, form: PastForm, clock: Clock): ScriptHistory {
  return {
    needFrom: (height) => store.read((query) => query.history().needHeight(height)),
    used: (scripts) =>
      store.read((query) => {
        const history = query.history();
        return scripts.map((script) => {
          const { kind, key } = form.keyOf(script);
          return history.ofKey(kind, key, { limit: 1 }).next().done !== true;
        });
      }),
    txsUpTo: (block, scripts, coins = []) =>
      store.read((query) => {
        const row = query.blockAtHeight(block.height);
        if (row === null || !equalBytes(row.hash, block.hash)) return null;
        return new PastReader(query, block.height, form, clock).txs(scripts, coins);
      }),
  };
}

/** Reads up to a height of one snapshot. */
class PastReader {
  readonly #query: Query;
  readonly #history: TxHistory;
  readonly #heightMax: number;
  readonly #form: PastForm;
  readonly #clock: Clock;
  readonly #blocks = new Map<number, WalletBlock>();

  constructor(query: Query, heightMax: number, form: PastForm, clock: Clock) {
    this.#query = query;
    this.#history = query.history();
    this.#heightMax = heightMax;
    this.#form = form;
    this.#clock = clock;
  }

  txs(scripts: readonly Uint8Array[], coins: readonly Outpoint[]): ConfirmedTx[] {
    const places = [...this.#placesOf(scripts, coins).values()].sort((a, b) => a.height - b.height || a.txIndex - b.txIndex);
    const found = this.#history.knownAt(places);
    const txs = found.map(({ raw }) => (raw === null ? null : this.#form.txOf(raw)));
    const spent = txs.includes(null) ? this.#spentBy([...coins, ...outpointsTo(scripts, txs, this.#form)]) : new Map<string, Outpoint[]>();
    return found.map(({ id, height, txIndex }, i) => {
      const tx = txs[i] ?? prunedTx(id, txIndex === 0, spent.get(placeText({ height, txIndex })) ?? []);
      return { tx, block: this.#blockAt(height) };
    });
  }

  #ofScript(script: Uint8Array): Iterable<HistoryPlace> {
    const { kind, key } = this.#form.keyOf(script);
    return this.#history.ofKey(kind, key);
  }

  #placesOf(scripts: readonly Uint8Array[], coins: readonly Outpoint[]): Map<string, HistoryPlace> {
    const places = new Map<string, HistoryPlace>();
    for (const script of scripts) {
      for (const { height, txIndex } of this.#ofScript(script)) {
        if (height > this.#heightMax) break;
        places.set(placeText({ height, txIndex }), { height, txIndex });
      }
    }
    for (const place of this.#spends(coins)) if (place !== null) places.set(placeText(place), place);
    return places;
  }

  /** By place, those of the outpoints that a transaction there spends. */
  #spentBy(outpoints: readonly Outpoint[]): Map<string, Outpoint[]> {
    const spent = new Map<string, Outpoint[]>();
    const unique = [...new Map(outpoints.map((outpoint) => [outpointText(outpoint), outpoint])).values()];
    for (const [i, place] of this.#spends(unique).entries()) {
      if (place === null) continue;
      const name = placeText(place);
      spent.set(name, [...(spent.get(name) ?? []), unique[i]]);
    }
    return spent;
  }

  /** Null: unspent up to the height. */
  #spends(outpoints: readonly Outpoint[]): (HistoryPlace | null)[] {
    const spends = this.#history.spends(outpoints.map(({ txId, index }) => outpointKey(txId, index)));
    return spends.map((spend) =>
      spend === null || spend.height > this.#heightMax ? null : { height: spend.height, txIndex: spend.txIndex },
    );
  }

  #blockAt(height: number): WalletBlock {
    let block = this.#blocks.get(height);
    if (block === undefined) {
      const row = this.#query.blockAtHeight(height);
      assert(row !== null, `block ${height} is on the chain`);
      block = walletBlock(row, this.#clock);
      this.#blocks.set(height, block);
    }
    return block;
  }
}

/** The outputs of the transactions that pay to the scripts. */
function outpointsTo(scripts: readonly Uint8Array[], txs: readonly (WalletTx | null)[], { otherOwners = () => [] }: PastForm): Outpoint[] {
  const own = new Set(scripts.map((script) => toHex(script)));
  return txs.flatMap((tx) => {
    if (tx === null) return [];
    const isOwn = (script: Uint8Array): boolean => [script, ...otherOwners(script)].some((owner) => own.has(toHex(owner)));
    return tx.outputs.flatMap(({ script }, index) => (isOwn(script) ? [{ txId: tx.id, index }] : []));
  });
}

function placeText({ height, txIndex }: HistoryPlace): string {
  return `${height}/${txIndex}`;
}

function prunedTx(id: Uint8Array, isCoinbase: boolean, inputs: readonly Outpoint[]): WalletTx {
  return { id, raw: new Uint8Array(0), inputs, outputs: [], isCoinbase };
}
