/**
 * Transactions in their JSON: one that is found by its id, in the chain or in
 * the mempool, and lists of confirmed ones. What they spend is looked up in the
 * history, in slices, because one transaction may have thousands of inputs.
 */
import {
  type BitcoinTx,
  createOf,
  type DescribedOutput,
  decodeTx,
  describeOutput,
  describeTx,
  type TxInput,
} from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { MempoolTx } from '../../../query/bitcoin/mempool/mempool.ts';
import type { HistoryTx, TxHistory } from '../../../query/history.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { ESPLORA_PARENTS_MAX } from '../../../util/limits.ts';
import type { EsploraRead } from './answer.ts';
import { statusOf } from './block-json.ts';
import { type TxStatus, txJson, UNCONFIRMED } from './tx-json.ts';

/** As texts of JSON, in the order given. */
export function confirmedTxs(read: EsploraRead, txs: Iterable<HistoryTx>): readonly string[] | Promise<readonly string[]> {
  const made: string[] = [];
  return read.task.inSlices(
    rendering(read, txs, made),
    () => true,
    () => made,
  );
}

/** One step for each input and each transaction, so that there is a place to stop between them. */
function* rendering({ query, network }: EsploraRead, txs: Iterable<HistoryTx>, made: string[]): Generator<void, void, void> {
  const parents = new Parents(query.history(), network.mweb);
  for (const tx of txs) {
    const described = describeTx(decodeTx(tx.raw, network.mweb));
    const prevouts: (DescribedOutput | null)[] = [];
    for (const input of described.inputs) {
      prevouts.push(described.coinbase ? null : parents.output(input));
      yield;
    }
    made.push(JSON.stringify(txJson(network, described, prevouts, statusOf(blockAt(query, tx.height)))));
    yield;
  }
}

export function mempoolTx({ network }: EsploraRead, { described, prevouts }: MempoolTx): string {
  return JSON.stringify(txJson(network, described, prevouts, UNCONFIRMED));
}

/** Transactions whose outputs are spent: inputs that stand together often name the same. */
class Parents {
  readonly #history: TxHistory;
  readonly #mweb: boolean;
  readonly #decoded = new Map<string, BitcoinTx | null>();

  constructor(history: TxHistory, mweb: boolean) {
    this.#history = history;
    this.#mweb = mweb;
  }

  /** Null: not known, in a store that began in the middle of the chain. */
  output({ txId, index }: TxInput): DescribedOutput | null {
    const parent = this.#parent(txId);
    const create = parent === null ? undefined : createOf(parent, index);
    return parent === null || create === undefined ? null : describeOutput(parent.raw, create.start, create.end);
  }

  #parent(txId: Uint8Array): BitcoinTx | null {
    const name = toHex(txId);
    const known = this.#decoded.get(name);
    if (known !== undefined) return known;
    if (this.#decoded.size >= ESPLORA_PARENTS_MAX) this.#decoded.clear();
    const found = this.#history.tx(txId);
    const parent = found === null ? null : decodeTx(found.raw, this.#mweb);
    this.#decoded.set(name, parent);
    return parent;
  }
}

/** Whether it is in a block, which needs no history to be kept. */
export function txStatus(query: Query, txId: Uint8Array): TxStatus {
  const [row] = query.txRows([txId]);
  if (row !== null) return statusOf(blockAt(query, row.height));
  // Of what came before a snapshot there are only the outputs that were unspent then.
  const [known] = query.firstHeight() > 0 ? query.tx(txId).outputs : [];
  return known === undefined ? UNCONFIRMED : statusAt(query, known.output.height);
}

/** Of what an output says of its block, which may be older than the store. */
export function statusAt(query: Query, height: number): TxStatus {
  if (height < query.firstHeight()) return { confirmed: true, block_height: height };
  return statusOf(blockAt(query, height));
}

/** A block that something else in the store names. */
export function blockAt(query: Query, height: number): ChainRow {
  const row = query.blockAtHeight(height);
  if (row === null) throw new UnspentError('STORE_DAMAGED', `block ${height} is named and has no row`, { height });
  return row;
}
