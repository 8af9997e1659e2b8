/** The inputs of stored transactions, of many with one statement. */
import { outpointText } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import type { SqlTransaction } from './database.ts';
import type { InputNode } from './graph.ts';
import { checked32, checkedIndex } from './row-checks.ts';

/** By the row of the transaction, in their order. */
export async function inputsOf(tx: SqlTransaction, rowIds: readonly number[]): Promise<Map<number, InputNode[]>> {
  const inputs = new Map<number, InputNode[]>();
  if (rowIds.length === 0) return inputs;
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  const rows = await tx.db
    .selectFrom(list.as('v'))
    .crossJoin('tx_inputs as i')
    .whereRef('i.tx_id', '=', 'v.row_id')
    .select(['i.id', 'i.tx_id', 'i.input_index', 'i.prev_tx_hash', 'i.prev_output_index'])
    .orderBy('i.tx_id')
    .orderBy('i.input_index')
    .execute();
  for (const row of rows) {
    const name = { table: 'tx_inputs', id: row.id };
    const outpoint = {
      txId: checked32(name, 'prev_tx_hash', row.prev_tx_hash),
      index: checkedIndex(name, 'prev_output_index', row.prev_output_index),
    };
    const input = { index: row.input_index, outpoint, text: outpointText(outpoint) };
    const others = inputs.get(row.tx_id);
    if (others === undefined) inputs.set(row.tx_id, [input]);
    else others.push(input);
  }
  return inputs;
}
