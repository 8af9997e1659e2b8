/**
 * Values to try the API with, from the store itself: its newest block, a
 * transaction of it, and whatever the outputs of the newest ones have. So an
 * example is never of a chain that is not there.
 */
import { get } from './api.ts';
import type { Block, Changes, Point, Utxo } from './shapes.ts';

const POLICY_CHARS = 56;
/** Blocks that are looked at, from the newest down: not every block has a datum. */
const BLOCKS = 12;

/** By the name of a parameter, or by the path and its name where a name means different things. */
export async function exampleValues(): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  const { body: blocks } = await get<Block[]>('/blocks', { limit: BLOCKS });
  const newest: Point | undefined = blocks[0];
  if (newest === undefined) return values;
  values.set('block', newest.hash);
  // What the newest block did: without a place to begin at the answer is the whole state.
  const [, before] = blocks;
  if (before !== undefined) values.set('/api/v1/changes after', before.hash);
  for (const { hash, tx_count } of blocks) {
    if (tx_count === 0) continue;
    let changes: Changes;
    try {
      ({ body: changes } = await get<Changes>(`/blocks/${hash}/changes`));
    } catch {
      // What it did was forgotten, and so it is of those below it.
      break;
    }
    for (const row of changes.created) if (row.spent_at_slot === undefined) note(values, row);
    if (values.has('/api/v1/scripts/{hash} hash') && values.has('unit')) break;
  }
  return values;
}

/** The first of each kind stays. */
function note(values: Map<string, string>, row: Utxo): void {
  const asset = row.amounts[1]?.unit;
  const found: readonly (readonly [string, string | undefined])[] = [
    ['tx', row.tx_hash],
    ['address', row.owner_addr],
    ['credential', row.owner_payment_credential],
    ['stake', row.owner_stake_addr],
    ['unit', asset],
    ['asset', asset],
    ['policy', asset?.slice(0, POLICY_CHARS)],
    // Of a datum that is only named by an output, the hash may be all that is known.
    ['/api/v1/datums/{hash} hash', row.inline_datum === undefined ? undefined : row.data_hash],
    ['/api/v1/datums/{hash}/utxos hash', row.data_hash],
    ['/api/v1/scripts/{hash} hash', row.reference_script_hash],
    ['/api/v1/scripts/{hash}/utxos hash', row.reference_script_hash],
  ];
  // Of the same output as the transaction.
  if (!values.has('tx')) {
    values.set('index', String(row.output_index));
    values.set('/api/v1/utxos body', JSON.stringify([`${row.tx_hash}#${row.output_index}`]));
  }
  for (const [name, value] of found) if (value !== undefined && !values.has(name)) values.set(name, value);
}
