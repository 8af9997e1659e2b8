/**
 * The unspent outputs of a script as Esplora lists them: those that the mempool
 * would add first, then the confirmed ones, newest first, without those that
 * the mempool would spend. What the mempool says is taken once, at the start;
 * confirmed rows are read as they are written, however many there are.
 */
import { formatId, scriptKey } from '../../../ledgers/bitcoin/index.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes } from '../../../util/bytes.ts';
import type { EsploraRead } from './answer.ts';
import { statusAt } from './txs.ts';

interface UnspentRow {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly value: bigint;
  /** Null: not in a block yet. */
  readonly height: number | null;
}

export function unspentRows({ query, mempool }: EsploraRead, key: Uint8Array): Iterable<UnspentRow> {
  const funded = fundedBy(mempool, key);
  const spent = spentBy(mempool, key);
  return rows(query, key, funded, spent);
}

function* rows(
  query: Query,
  key: Uint8Array,
  funded: readonly UnspentRow[],
  spent: ReadonlySet<string>,
): Generator<UnspentRow, void, void> {
  yield* funded;
  for (const { txId, index, output } of query.byKey('address', key, { order: 'desc' })) {
    if (spent.size > 0 && spent.has(nameOf(txId, index))) continue;
    yield { txId, index, value: output.value, height: output.height };
  }
}

/** Newest first. */
function fundedBy(mempool: Mempool, key: Uint8Array): UnspentRow[] {
  const found: UnspentRow[] = [];
  for (const { id, described } of mempool.byScript(key)) {
    for (const { index, value, script } of described.outputs) {
      if (!equalBytes(scriptKey(script), key) || mempool.spender(id, index) !== null) continue;
      found.push({ txId: id, index, value, height: null });
    }
  }
  return found.reverse();
}

/** Every outpoint that they spend: the few that are not of this script do no harm. */
function spentBy(mempool: Mempool, key: Uint8Array): ReadonlySet<string> {
  const spent = new Set<string>();
  for (const { described } of mempool.byScript(key)) for (const { txId, index } of described.inputs) spent.add(nameOf(txId, index));
  return spent;
}

function nameOf(txId: Uint8Array, index: number): string {
  return `${formatId(txId)}:${index}`;
}

/** Rows come in the order of their blocks, so only the last block is remembered. */
export function utxoWriter(query: Query): (row: UnspentRow) => string {
  let height = -1;
  let status = '';
  return (row) => {
    if (row.height !== null && row.height !== height) {
      height = row.height;
      status = JSON.stringify(statusAt(query, height));
    }
    const said = row.height === null ? '{"confirmed":false}' : status;
    return `{"txid":"${formatId(row.txId)}","vout":${row.index},"status":${said},"value":${row.value}}`;
  };
}
