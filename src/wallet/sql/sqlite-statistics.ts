/**
 * What SQLite's planner is to believe of the tables: a wallet with a million
 * transactions. Without statistics it takes any index on the wallet to be as good
 * as one on a hash, and reads all coins of a wallet to find one; and statistics
 * that it gathers while the tables are small would be wrong later. These are
 * written once, when the tables are made (https://www.sqlite.org/optoverview.html,
 * "manual control of query plans using sqlite_stat tables").
 *
 * A line is the rows of an index, then how many rows share its first column, its
 * first two columns, and so on. Indexes that belong to constraints are numbered
 * by SQLite in the order in which the constraints stand in their table.
 */
const STATISTICS: readonly (readonly [table: string, index: string, numbers: string])[] = [
  ['wallets', 'sqlite_autoindex_wallets_1', '5 1'],
  ['wallet_sync_states', 'synced_height', '5 5'],
  ['wallet_sync_states', 'birthday_height', '5 2'],
  ['key_scopes', 'sqlite_autoindex_key_scopes_1', '6 2 1 1'],
  ['key_scopes', 'sqlite_autoindex_key_scopes_2', '6 2 1'],
  ['accounts', 'sqlite_autoindex_accounts_1', '10 2 2 1'],
  ['accounts', 'sqlite_autoindex_accounts_2', '10 2 1'],
  ['accounts', 'sqlite_autoindex_accounts_3', '10 2 1'],
  ['accounts', 'account_watched', '10 1'],
  ['blocks', 'sqlite_autoindex_blocks_1', '100000 1'],
  ['addresses', 'sqlite_autoindex_addresses_1', '300000 1 1'],
  ['addresses', 'sqlite_autoindex_addresses_2', '300000 60000 1'],
  ['derived_addresses', 'sqlite_autoindex_derived_addresses_1', '300000 30000 15000 1'],
  ['transactions', 'sqlite_autoindex_transactions_1', '1000000 1 1'],
  ['transactions', 'sqlite_autoindex_transactions_2', '1000000 200000 1'],
  ['transactions', 'tx_received', '1000000 200000 2'],
  ['transactions', 'tx_dead', '10000 2000 2'],
  ['transactions', 'tx_of_block', '990000 10 5 1'],
  ['transactions', 'tx_of_wallet_block', '990000 200000 5 1'],
  ['transactions', 'tx_coinbase', '1000 200 1'],
  ['transactions', 'tx_unmined', '1000 200 1'],
  ['transactions', 'tx_without_block', '11000 2200 2 1'],
  ['tx_inputs', 'input_outpoint', '1000000 2 1 1'],
  ['tx_inputs', 'sqlite_autoindex_tx_inputs_1', '2000000 2 1'],
  ['tx_replacements', 'sqlite_autoindex_tx_replacements_1', '10000 2000 1 1'],
  ['tx_replacements', 'replacement_back', '10000 2000 1'],
  ['utxos', 'sqlite_autoindex_utxos_1', '1000000 2 1'],
  ['utxos', 'sqlite_autoindex_utxos_2', '1000000 200000 1'],
  ['utxos', 'utxo_address', '1000000 4'],
  ['utxos', 'utxo_spender', '800000 2'],
  ['utxos', 'utxo_unspent', '200000 40000 3 2 1'],
  ['utxo_leases', 'lease_end', '200 40 1'],
  ['utxo_leases', 'lease_of_spend', '20 4'],
  ['wallet_events', 'event_of_wallet', '3000000 600000 1'],
  ['wallet_events', 'event_of_reorg', '1000 200 1'],
];

export function sqliteStatistics(): string[] {
  const rows = STATISTICS.map(([table, index, numbers]) => `('${table}', '${index}', '${numbers}')`);
  return [
    'ANALYZE',
    'DELETE FROM sqlite_stat1',
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ${rows.join(', ')}`,
    'ANALYZE sqlite_schema',
  ];
}
