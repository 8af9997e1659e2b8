/**
 * The first version of the schema: tables, keys and indexes of both databases in
 * one text. What differs between them is the name of a type, given as `types`.
 *
 * Every reference between rows of a wallet is a pair (wallet, id), so that the
 * database itself refuses a credit, an edge, a lease or an address that crosses
 * wallets. A check is named: the tests and the messages of the database say which.
 * Keys by script, by transaction id and by outpoint have the wallet last, because
 * a block asks for the wallets that its scripts and outpoints touch.
 *
 * An index that is ordered by hash costs a page for each row of a block, so there
 * are two, and one of them is small. A coin is found by the row of its transaction;
 * an input is found by its outpoint only while it holds no edge, because from an
 * edge it is found by the coin (docs/adr/0077-coins-by-the-row-of-their-transaction.md).
 */
import type { ColumnTypes } from '../../sql/column-types.ts';
import { feedTable } from '../../sql/feed-position.ts';
import { totalsTable } from './schema-totals.ts';

/** The statements, in the order of what refers to what. */
export function tableStatements(types: ColumnTypes): string[] {
  return [
    ...chainTables(types),
    ...keyTables(types),
    ...secretTables(types),
    ...transactionTables(types),
    ...coinTables(types),
    ...totalsTable(types),
    ...INDEXES,
  ];
}

const BITCOIN_KINDS = ['P2PK', 'P2PKH', 'P2SH', 'P2SH-P2WPKH', 'P2WPKH', 'P2WSH', 'P2TR', 'P2A'];
const KINDS = [...BITCOIN_KINDS, 'CARDANO-KEY', 'CARDANO-SCRIPT', 'CARDANO-BYRON', 'CARDANO-STAKE', 'MULTISIG'];

function chainTables(types: ColumnTypes): string[] {
  const { id, integer, bytes, bytewise, table } = types;
  return [
    `CREATE TABLE blocks (
      block_height ${integer} PRIMARY KEY CONSTRAINT block_height_range CHECK (block_height >= 0),
      header_hash ${bytes} NOT NULL CONSTRAINT header_hash_once UNIQUE CONSTRAINT header_hash_length CHECK (length(header_hash) = 32),
      block_timestamp ${integer} NOT NULL CONSTRAINT block_timestamp_range CHECK (block_timestamp >= 0)
    )${table}`,
    `CREATE TABLE wallets (
      id ${id},
      wallet_name text${bytewise} NOT NULL CONSTRAINT wallet_name_once UNIQUE CONSTRAINT wallet_name_given CHECK (wallet_name <> ''),
      is_imported ${integer} NOT NULL CONSTRAINT wallet_imported_flag CHECK (is_imported IN (0, 1)),
      manager_version ${integer} NOT NULL,
      is_watch_only ${integer} NOT NULL CONSTRAINT wallet_watch_only_flag CHECK (is_watch_only IN (0, 1)),
      master_hd_pub_key ${bytes}
    )${table}`,
    `CREATE TABLE wallet_sync_states (
      wallet_id ${integer} PRIMARY KEY REFERENCES wallets (id) ON DELETE CASCADE,
      synced_height ${integer} CONSTRAINT synced_block REFERENCES blocks (block_height) ON DELETE RESTRICT,
      birthday_height ${integer} CONSTRAINT birthday_block REFERENCES blocks (block_height) ON DELETE RESTRICT,
      birthday_timestamp ${integer}
    )${table}`,
    feedTable('feed_positions', types),
    `CREATE TABLE event_counter (id ${integer} PRIMARY KEY CONSTRAINT one_counter CHECK (id = 1), last_sequence ${integer} NOT NULL)${table}`,
    'INSERT INTO event_counter (id, last_sequence) VALUES (1, 0)',
    `CREATE TABLE watch_counter (id ${integer} PRIMARY KEY CONSTRAINT one_watch_counter CHECK (id = 1), last_version ${integer} NOT NULL)${table}`,
    'INSERT INTO watch_counter (id, last_version) VALUES (1, 0)',
    `CREATE TABLE wallet_events (
      event_sequence ${integer} PRIMARY KEY,
      wallet_id ${integer} NOT NULL REFERENCES wallets (id) ON DELETE CASCADE,
      event_json text NOT NULL
    )${table}`,
  ];
}

function keyTables({ id, integer, bytes, table }: ColumnTypes): string[] {
  return [
    `CREATE TABLE address_types (id ${integer} PRIMARY KEY CONSTRAINT address_type_range CHECK (id BETWEEN 0 AND ${KINDS.length - 1}), type_name text NOT NULL UNIQUE)${table}`,
    `INSERT INTO address_types (id, type_name) VALUES ${KINDS.map((name, at) => `(${at}, '${name}')`).join(', ')}`,
    `CREATE TABLE key_scopes (
      id ${id},
      wallet_id ${integer} NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      purpose ${integer} NOT NULL CONSTRAINT purpose_range CHECK (purpose >= 0),
      coin_type ${integer} NOT NULL CONSTRAINT coin_type_range CHECK (coin_type >= 0),
      coin_pub_key ${bytes},
      next_account_number ${integer} NOT NULL DEFAULT 0 CONSTRAINT next_account_range CHECK (next_account_number >= 0),
      internal_type_id ${integer} NOT NULL REFERENCES address_types (id),
      external_type_id ${integer} NOT NULL REFERENCES address_types (id),
      CONSTRAINT scope_once UNIQUE (wallet_id, purpose, coin_type),
      UNIQUE (wallet_id, id)
    )${table}`,
    `CREATE TABLE accounts (
      id ${id},
      wallet_id ${integer} NOT NULL,
      scope_id ${integer} NOT NULL,
      account_name text NOT NULL CONSTRAINT account_name_given CHECK (account_name <> ''),
      is_derived ${integer} NOT NULL CONSTRAINT account_derived_flag CHECK (is_derived IN (0, 1)),
      account_number ${integer} CONSTRAINT account_number_range CHECK (account_number >= 0),
      master_fingerprint ${integer},
      public_key ${bytes},
      created_at ${integer} NOT NULL,
      next_external_index ${integer} NOT NULL DEFAULT 0 CONSTRAINT next_external_range CHECK (next_external_index >= 0),
      next_internal_index ${integer} NOT NULL DEFAULT 0 CONSTRAINT next_internal_range CHECK (next_internal_index >= 0),
      watch_version ${integer} NOT NULL DEFAULT 0,
      CONSTRAINT number_iff_derived CHECK ((account_number IS NOT NULL) = (is_derived = 1)),
      CONSTRAINT account_scope FOREIGN KEY (wallet_id, scope_id) REFERENCES key_scopes (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT account_name_once UNIQUE (wallet_id, scope_id, account_name),
      CONSTRAINT account_number_once UNIQUE (scope_id, account_number),
      UNIQUE (wallet_id, id)
    )${table}`,
    `CREATE TABLE addresses (
      id ${id},
      wallet_id ${integer} NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      is_derived ${integer} NOT NULL CONSTRAINT address_derived_flag CHECK (is_derived IN (0, 1)),
      script_pub_key ${bytes} NOT NULL CONSTRAINT script_given CHECK (length(script_pub_key) > 0),
      script_type_id ${integer} NOT NULL REFERENCES address_types (id),
      pub_key ${bytes},
      created_at ${integer} NOT NULL,
      CONSTRAINT script_once UNIQUE (script_pub_key, wallet_id),
      UNIQUE (wallet_id, id)
    )${table}`,
    `CREATE TABLE derived_addresses (
      address_id ${integer} PRIMARY KEY,
      wallet_id ${integer} NOT NULL,
      account_id ${integer} NOT NULL,
      address_branch ${integer} NOT NULL CONSTRAINT address_branch_range CHECK (address_branch IN (0, 1)),
      address_index ${integer} NOT NULL CONSTRAINT address_index_range CHECK (address_index >= 0),
      CONSTRAINT derived_address FOREIGN KEY (wallet_id, address_id) REFERENCES addresses (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT derived_account FOREIGN KEY (wallet_id, account_id) REFERENCES accounts (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT derivation_once UNIQUE (account_id, address_branch, address_index)
    )${table}`,
  ];
}

/** Encrypted material. A trigger forbids all of it in a wallet that is watch-only. */
function secretTables({ integer, bytes, table }: ColumnTypes): string[] {
  const of = (name: string, owner: string): string => `CREATE TABLE ${name}_secrets (
      ${name}_id ${integer} PRIMARY KEY,
      wallet_id ${integer} NOT NULL,
      encrypted_priv_key ${bytes} NOT NULL,
      CONSTRAINT ${name}_secret_owner FOREIGN KEY (wallet_id, ${name}_id) REFERENCES ${owner} (wallet_id, id) ON DELETE CASCADE
    )${table}`;
  return [
    `CREATE TABLE wallet_secrets (
      wallet_id ${integer} PRIMARY KEY REFERENCES wallets (id) ON DELETE CASCADE,
      master_priv_params ${bytes},
      encrypted_crypto_priv_key ${bytes},
      encrypted_crypto_script_key ${bytes},
      encrypted_master_hd_priv_key ${bytes}
    )${table}`,
    of('key_scope', 'key_scopes'),
    of('account', 'accounts'),
    of('address', 'addresses'),
  ];
}

function transactionTables({ id, integer, bytes, table, including }: ColumnTypes): string[] {
  return [
    `CREATE TABLE transactions (
      id ${id},
      wallet_id ${integer} NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      tx_hash ${bytes} NOT NULL CONSTRAINT tx_hash_length CHECK (length(tx_hash) = 32),
      raw_tx ${bytes} NOT NULL,
      tx_outputs ${bytes} NOT NULL,
      block_height ${integer} CONSTRAINT tx_block REFERENCES blocks (block_height) ON DELETE SET NULL,
      confirmed_order ${integer} CONSTRAINT confirmed_order_range CHECK (confirmed_order >= 0),
      tx_status ${integer} NOT NULL CONSTRAINT tx_status_range CHECK (tx_status BETWEEN 0 AND 4),
      received_time ${integer} NOT NULL,
      is_coinbase ${integer} NOT NULL CONSTRAINT coinbase_flag CHECK (is_coinbase IN (0, 1)),
      scripts_failed ${integer} NOT NULL DEFAULT 0 CONSTRAINT scripts_failed_flag CHECK (scripts_failed IN (0, 1)),
      tx_label text NOT NULL DEFAULT '' CONSTRAINT tx_label_length CHECK (length(tx_label) <= 500),
      mempool_seen_at ${integer},
      mempool_evicted_at ${integer},
      CONSTRAINT confirmed_is_published CHECK (block_height IS NULL OR tx_status = 1),
      CONSTRAINT coinbase_state CHECK (
        CASE WHEN is_coinbase = 1 THEN tx_status = (CASE WHEN block_height IS NULL THEN 4 ELSE 1 END) ELSE tx_status <> 4 END),
      CONSTRAINT order_iff_confirmed CHECK ((block_height IS NULL) = (confirmed_order IS NULL)),
      CONSTRAINT tx_once UNIQUE (tx_hash, wallet_id),
      UNIQUE (wallet_id, id)
    )${table}`,
    `CREATE TABLE tx_inputs (
      id ${id},
      wallet_id ${integer} NOT NULL,
      tx_id ${integer} NOT NULL,
      input_index ${integer} NOT NULL CONSTRAINT input_index_range CHECK (input_index >= 0),
      prev_tx_hash ${bytes} NOT NULL CONSTRAINT prev_tx_hash_length CHECK (length(prev_tx_hash) = 32),
      prev_output_index ${integer} NOT NULL CONSTRAINT prev_output_index_range CHECK (prev_output_index >= 0),
      holds_edge ${integer} NOT NULL DEFAULT 0 CONSTRAINT holds_edge_flag CHECK (holds_edge IN (0, 1)),
      CONSTRAINT input_tx FOREIGN KEY (wallet_id, tx_id) REFERENCES transactions (wallet_id, id) ON DELETE CASCADE,
      CONSTRAINT input_once UNIQUE (tx_id, input_index)${including('holds_edge')}
    )${table}`,
    `CREATE TABLE tx_replacements (
      id ${id},
      wallet_id ${integer} NOT NULL,
      replaced_tx_id ${integer} NOT NULL,
      replacement_tx_id ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      CONSTRAINT not_itself CHECK (replaced_tx_id <> replacement_tx_id),
      CONSTRAINT replaced_tx FOREIGN KEY (wallet_id, replaced_tx_id) REFERENCES transactions (wallet_id, id) ON DELETE CASCADE,
      CONSTRAINT replacement_tx FOREIGN KEY (wallet_id, replacement_tx_id) REFERENCES transactions (wallet_id, id) ON DELETE CASCADE,
      CONSTRAINT replacement_once UNIQUE (wallet_id, replaced_tx_id, replacement_tx_id)
    )${table}`,
  ];
}

function coinTables({ id, integer, bytes, table }: ColumnTypes): string[] {
  return [
    `CREATE TABLE utxos (
      id ${id},
      wallet_id ${integer} NOT NULL,
      tx_id ${integer} NOT NULL,
      tx_hash ${bytes} NOT NULL,
      output_index ${integer} NOT NULL CONSTRAINT output_index_range CHECK (output_index >= 0),
      amount ${integer} NOT NULL CONSTRAINT amount_range CHECK (amount >= 0),
      address_id ${integer} NOT NULL,
      script_pub_key ${bytes},
      output_holding ${bytes},
      spent_by_tx_id ${integer},
      spent_input_index ${integer} CONSTRAINT spent_input_index_range CHECK (spent_input_index >= 0),
      CONSTRAINT whole_edge CHECK ((spent_by_tx_id IS NULL) = (spent_input_index IS NULL)),
      CONSTRAINT funding_tx FOREIGN KEY (wallet_id, tx_id) REFERENCES transactions (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT owner_address FOREIGN KEY (wallet_id, address_id) REFERENCES addresses (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT spending_tx FOREIGN KEY (wallet_id, spent_by_tx_id) REFERENCES transactions (wallet_id, id) ON DELETE RESTRICT,
      CONSTRAINT outpoint_once UNIQUE (tx_id, output_index),
      UNIQUE (wallet_id, id)
    )${table}`,
    `CREATE TABLE utxo_leases (
      utxo_id ${integer} PRIMARY KEY,
      wallet_id ${integer} NOT NULL,
      lock_id ${bytes} NOT NULL CONSTRAINT lock_id_length CHECK (length(lock_id) = 32),
      expires_at ${integer} NOT NULL,
      release_confs ${integer} CONSTRAINT release_confs_range CHECK (release_confs > 0),
      CONSTRAINT leased_utxo FOREIGN KEY (wallet_id, utxo_id) REFERENCES utxos (wallet_id, id) ON DELETE CASCADE
    )${table}`,
  ];
}

/** An event that tells of a reorganisation: few of millions, which are found without reading the others. */
export const IS_REORG = `substr(event_json, 1, 16) = '{"kind":"reorg",'`;

const INDEXES: readonly string[] = [
  'CREATE INDEX tx_unmined ON transactions (wallet_id, id) WHERE block_height IS NULL AND tx_status IN (0, 1)',
  'CREATE INDEX tx_without_block ON transactions (wallet_id, received_time DESC, id DESC) WHERE block_height IS NULL',
  'CREATE UNIQUE INDEX tx_of_wallet_block ON transactions (wallet_id, block_height, confirmed_order) WHERE block_height IS NOT NULL',
  'CREATE INDEX tx_of_block ON transactions (block_height, wallet_id, confirmed_order) WHERE block_height IS NOT NULL',
  'CREATE INDEX tx_received ON transactions (wallet_id, received_time DESC)',
  'CREATE INDEX tx_dead ON transactions (wallet_id, received_time) WHERE tx_status IN (2, 3, 4)',
  'CREATE INDEX tx_coinbase ON transactions (wallet_id, block_height) WHERE is_coinbase = 1',
  'CREATE INDEX input_outpoint ON tx_inputs (prev_tx_hash, prev_output_index, wallet_id) WHERE holds_edge = 0',
  'CREATE INDEX replacement_back ON tx_replacements (wallet_id, replacement_tx_id)',
  'CREATE INDEX utxo_unspent ON utxos (wallet_id, amount, tx_hash, output_index) WHERE spent_by_tx_id IS NULL',
  'CREATE INDEX utxo_spender ON utxos (spent_by_tx_id) WHERE spent_by_tx_id IS NOT NULL',
  'CREATE INDEX utxo_address ON utxos (address_id)',
  'CREATE INDEX lease_end ON utxo_leases (wallet_id, expires_at)',
  'CREATE INDEX lease_of_spend ON utxo_leases (wallet_id) WHERE release_confs IS NOT NULL',
  'CREATE INDEX synced_height ON wallet_sync_states (synced_height) WHERE synced_height IS NOT NULL',
  'CREATE INDEX birthday_height ON wallet_sync_states (birthday_height) WHERE birthday_height IS NOT NULL',
  'CREATE INDEX account_watched ON accounts (watch_version)',
  'CREATE INDEX event_of_wallet ON wallet_events (wallet_id, event_sequence)',
  `CREATE INDEX event_of_reorg ON wallet_events (wallet_id, event_sequence) WHERE ${IS_REORG}`,
];
