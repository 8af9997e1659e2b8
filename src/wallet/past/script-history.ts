/**
 * The past of scripts, from the index of a store that keeps the history: which
 * scripts were ever used, and the transactions of those that were. This is how a
 * wallet finds its past without a look at any block, beside the store or over HTTP (bitcoin/http-history.ts). What a script is in the index
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
import { HISTORY_TXS_AT_ONCE } from '../../util/limits.ts';
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
  needFrom(height: number): Promise<void>;
  /** Whether each was ever paid, in their order. Throws UNSUPPORTED where the store keeps no history. */
  used(scripts: readonly Uint8Array[]): Promise<readonly boolean[]>;
  /**
   * What paid to them or spent from them up to that block, and what spent the coins, in the order of the chain; null: the
   * block is not on the chain any more.
   */
  txsUpTo(block: WalletBlock, scripts: readonly Uint8Array[], coins?: readonly Outpoint[]): Promise<readonly ConfirmedTx[] | null>;
}

export interface ConfirmedTx {
  /** Where its bytes were forgotten (`isPruned`) `raw` is empty, and it has no outputs and only the inputs that are known. */
  readonly tx: WalletTx;
  readonly block: WalletBlock;
}

/** What is asked of the past. */
export interface PastRequest {
  readonly scripts: readonly Uint8Array[];
  /** What spent these is asked for, too. */
  readonly coins: readonly Outpoint[];
  readonly heightMax: number;
}

/** A step of reading the past. Null: it has found no transaction. */
export interface PastStep {
  readonly found: (ConfirmedTx & HistoryPlace) | null;
}

export function storeHistory(store: Pick<FollowedStore, 'read'>, form: PastForm, clock: Clock): ScriptHistory {
  return {
    needFrom: async (height) => store.read((query) => query.history().needHeight(height)),
    used: async (scripts) => store.read((query) => scripts.map((script) => isUsed(query, form, script))),
    txsUpTo: async (block, scripts, coins = []) =>
      store.read((query) => {
        if (!hasBlock(query, block)) return null;
        const steps = pastTxs(query, { scripts, coins, heightMax: block.height }, form, clock);
        return Array.from(steps).flatMap(({ found }) => found ?? []);
      }),
  };
}

/** Whether it was ever paid. Throws UNSUPPORTED. */
export function isUsed(query: Query, form: PastForm, script: Uint8Array): boolean {
  const { kind, key } = form.keyOf(script);
  return query.history().ofKey(kind, key, { limit: 1 }).next().done !== true;
}

export function hasBlock(query: Query, { height, hash }: Pick<WalletBlock, 'height' | 'hash'>): boolean {
  const row = query.blockAtHeight(height);
  return row !== null && equalBytes(row.hash, hash);
}

/** In the order of the chain, of one snapshot, read no faster than they are asked for. Throws UNSUPPORTED before the first. */
export function pastTxs(query: Query, request: PastRequest, form: PastForm, clock: Clock): Iterable<PastStep> {
  return new PastReader(query, request, form, clock).steps();
}

const NOTHING: PastStep = { found: null };

class PastReader {
  readonly #query: Query;
  readonly #history: TxHistory;
  readonly #request: PastRequest;
  readonly #form: PastForm;
  readonly #clock: Clock;
  readonly #blocks = new Map<number, WalletBlock>();
  /** Outpoints of which it was not looked up who spent them, and by place those that were. Only forgotten spenders are asked for. */
  #unseen: Outpoint[];
  readonly #spentAt = new Map<string, Outpoint[]>();

  constructor(query: Query, request: PastRequest, form: PastForm, clock: Clock) {
    this.#query = query;
    this.#history = query.history();
    this.#request = request;
    this.#form = form;
    this.#clock = clock;
    this.#unseen = [...new Map(request.coins.map((coin) => [outpointText(coin), coin])).values()];
  }

  *steps(): Generator<PastStep, void, undefined> {
    const own = new Set(this.#request.scripts.map((script) => toHex(script)));
    const coins = new Set(this.#unseen.map(outpointText));
    const places = new Map<string, HistoryPlace>();
    for (const place of this.#places()) {
      if (place !== null) places.set(placeText(place), place);
      yield NOTHING;
    }
    const sorted = [...places.values()].sort((a, b) => a.height - b.height || a.txIndex - b.txIndex);
    for (let from = 0; from < sorted.length; from += HISTORY_TXS_AT_ONCE) {
      for (const { id, raw, height, txIndex } of this.#history.knownAt(sorted.slice(from, from + HISTORY_TXS_AT_ONCE))) {
        const place = { height, txIndex };
        const tx = raw === null ? prunedTx(id, txIndex === 0, this.#spentBy(place)) : this.#form.txOf(raw);
        // What spends one of its outputs comes behind it.
        for (const outpoint of outpointsTo(own, tx, this.#form)) if (!coins.has(outpointText(outpoint))) this.#unseen.push(outpoint);
        yield { found: { tx, block: this.#blockAt(height), ...place } };
      }
    }
  }

  /** Null: a look that has shown nothing. */
  *#places(): Generator<HistoryPlace | null, void, undefined> {
    const { scripts, coins, heightMax } = this.#request;
    for (const script of scripts) {
      const { kind, key } = this.#form.keyOf(script);
      for (const { height, txIndex } of this.#history.ofKey(kind, key)) {
        if (height > heightMax) break;
        yield { height, txIndex };
      }
      yield null;
    }
    for (let from = 0; from < coins.length; from += HISTORY_TXS_AT_ONCE) yield* this.#spends(coins.slice(from, from + HISTORY_TXS_AT_ONCE));
  }

  /** Those of the outpoints that a transaction at that place spends, as far as they are known. */
  #spentBy(place: HistoryPlace): readonly Outpoint[] {
    for (const [i, spend] of this.#spends(this.#unseen).entries()) {
      if (spend === null) continue;
      const name = placeText(spend);
      this.#spentAt.set(name, [...(this.#spentAt.get(name) ?? []), this.#unseen[i]]);
    }
    this.#unseen = [];
    return this.#spentAt.get(placeText(place)) ?? [];
  }

  /** Null: unspent up to the height. */
  #spends(outpoints: readonly Outpoint[]): (HistoryPlace | null)[] {
    const spends = this.#history.spends(outpoints.map(({ txId, index }) => outpointKey(txId, index)));
    return spends.map((spend) =>
      spend === null || spend.height > this.#request.heightMax ? null : { height: spend.height, txIndex: spend.txIndex },
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

/** The outputs of a transaction that pay to the scripts (in hex). */
function outpointsTo(scripts: ReadonlySet<string>, { id, outputs }: WalletTx, { otherOwners = () => [] }: PastForm): Outpoint[] {
  const isOwn = (script: Uint8Array): boolean => [script, ...otherOwners(script)].some((owner) => scripts.has(toHex(owner)));
  return outputs.flatMap(({ script }, index) => (isOwn(script) ? [{ txId: id, index }] : []));
}

function placeText({ height, txIndex }: HistoryPlace): string {
  return `${height}/${txIndex}`;
}

function prunedTx(id: Uint8Array, isCoinbase: boolean, inputs: readonly Outpoint[]): WalletTx {
  return { id, raw: new Uint8Array(0), inputs, outputs: [], isCoinbase };
}
