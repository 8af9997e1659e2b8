/** Views of a copy for people: outputs with their spender, ids as text, and answers to common questions. */
import type { SqlShape } from './tables.ts';

export interface SqlView {
  readonly name: string;
  readonly doc: string;
  /** `$` stands for the schema. */
  readonly query: string;
}

/** Later ones may stand on earlier ones. */
export function sqlViews({ hasTraits }: SqlShape): readonly SqlView[] {
  const output = hasTraits
    ? 'payment_credential, stake_address, datum_hash, datum, script_hash, script, collateral_return'
    : 'script, coinbase';
  return [
    {
      name: 'outputs',
      doc: 'Outputs, spent and unspent, with what spent them (null: unspent)',
      query: `SELECT tx_id, output_index, height, address, value, ${output},
  NULL::bytea AS spent_by, NULL::bigint AS spent_input, NULL::bigint AS spent_height FROM $.unspent
UNION ALL
SELECT tx_id, output_index, height, address, value, ${output}, spent_by, spent_input, spent_height FROM $.spent`,
    },
    {
      name: 'blocks_text',
      doc: 'Blocks with ids as text',
      query: `SELECT height, boundary, encode(hash, 'hex') AS hash, encode(previous_hash, 'hex') AS previous_hash, slot, time, epoch, era,
  transactions, size, details FROM $.blocks`,
    },
    {
      name: 'transactions_text',
      doc: 'Transactions with ids as text',
      query: "SELECT encode(tx_id, 'hex') AS tx_id, height, block_index, valid, fee, size FROM $.transactions",
    },
    {
      name: 'outputs_text',
      doc: 'Outputs with ids as text: `output` is transaction#index',
      query: `SELECT encode(tx_id, 'hex') || '#' || output_index AS output, height, address, value,
  encode(spent_by, 'hex') AS spent_by, spent_height FROM $.outputs`,
    },
    {
      name: 'rich_list',
      doc: 'Addresses with what they have, the richest first',
      query: 'SELECT address, value, outputs FROM $.balances ORDER BY value DESC, address',
    },
    {
      name: 'blocks_per_day',
      doc: 'Blocks, transactions and bytes by day (UTC)',
      query: `SELECT (time AT TIME ZONE 'UTC')::date AS day, count(*) AS blocks, sum(transactions) AS transactions, sum(size) AS bytes
FROM $.blocks WHERE time IS NOT NULL GROUP BY 1`,
    },
    {
      name: 'fees_per_day',
      doc: 'Fees by day (UTC), of transactions whose fee is known (see coverage)',
      query: `SELECT (b.time AT TIME ZONE 'UTC')::date AS day, count(t.fee) AS transactions, sum(t.fee) AS fees, avg(t.fee) AS average
FROM $.transactions t JOIN $.blocks b ON b.height = t.height AND NOT b.boundary WHERE t.fee IS NOT NULL GROUP BY 1`,
    },
    ...(hasTraits ? traitViews : []),
  ];
}

const traitViews: readonly SqlView[] = [
  {
    name: 'output_assets',
    doc: 'Native assets of outputs, spent and unspent',
    query: `SELECT tx_id, output_index, policy, asset_name, quantity, NULL::bigint AS spent_height FROM $.unspent_assets
UNION ALL
SELECT tx_id, output_index, policy, asset_name, quantity, spent_height FROM $.spent_assets`,
  },
  {
    name: 'holders',
    doc: 'Who holds an asset, and how much; `asset` is policy and name as text',
    query: "SELECT policy, asset_name, encode(policy || asset_name, 'hex') AS asset, address, quantity FROM $.asset_balances",
  },
  {
    name: 'asset_supply',
    doc: 'How much of each asset there is in unspent outputs, and how many addresses hold it',
    query: `SELECT policy, asset_name, encode(policy || asset_name, 'hex') AS asset, sum(quantity) AS quantity, count(*) AS holders
FROM $.asset_balances GROUP BY policy, asset_name`,
  },
  {
    name: 'stake_balances',
    doc: 'What the addresses of each stake address have together',
    query: `SELECT stake_address, sum(value) AS value, count(*) AS outputs FROM $.unspent WHERE stake_address IS NOT NULL
GROUP BY stake_address`,
  },
];
