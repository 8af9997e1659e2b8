/**
 * One statement for each constraint and trigger of the schema that it must
 * refuse. The wallets of the story (`refusingWorld`): 1 and 2 only watch, 3 can
 * spend. Wallet 1 has A, whose output 0 is spent by B; C and a coinbase in block
 * 5; F, which spent it, too, and failed; G, which lives and has inputs 5 and 6 of
 * F's outputs; a lease on C's output. Wallet 2 has Z.
 */

import type { SqlKind } from '../../../src/sql/database.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { SCRIPT_KINDS } from '../../../src/wallet/records.ts';
import { idOf } from '../support/world.ts';

/** Writes values as the database of that kind does. */
export class SqlText {
  readonly #kind: SqlKind;

  constructor(kind: SqlKind) {
    this.#kind = kind;
  }

  bytes(value: Uint8Array): string {
    return this.#kind === 'sqlite' ? `X'${toHex(value)}'` : `'\\x${toHex(value)}'::bytea`;
  }

  /** The row of a transaction of the story. */
  tx(name: string): string {
    return `(SELECT id FROM transactions WHERE tx_hash = ${this.bytes(idOf(name))})`;
  }

  /** The row of its output. */
  coin(name: string, index = 0): string {
    return `(SELECT id FROM utxos WHERE tx_hash = ${this.bytes(idOf(name))} AND output_index = ${index})`;
  }

  address(walletId: number): string {
    return `(SELECT MIN(id) FROM addresses WHERE wallet_id = ${walletId})`;
  }
}

/** The number behind the last type of scripts. */
const NO_TYPE = SCRIPT_KINDS.length;

export interface ConstraintCase {
  readonly name: string;
  readonly kind: 'check' | 'unique' | 'foreign key' | 'trigger';
  readonly statement: string;
}

type Cases = readonly (readonly [name: string, statement: string])[];

const all = (kind: ConstraintCase['kind'], cases: Cases): ConstraintCase[] => cases.map(([name, statement]) => ({ name, kind, statement }));

export function constraintCases(text: SqlText): ConstraintCase[] {
  return [...checks(text), ...uniques(text), ...references(text), ...immutables(text), ...edges(text), ...secrets(text)];
}

function checks(text: SqlText): ConstraintCase[] {
  const hash = text.bytes(idOf('new'));
  const short = text.bytes(new Uint8Array(31));
  const newTx = (values: string): string =>
    `INSERT INTO transactions (wallet_id, tx_hash, raw_tx, tx_outputs, block_height, confirmed_order, tx_status, received_time, is_coinbase)
     VALUES (1, ${hash}, ${hash}, ${hash}, ${values})`;
  const label = (type: number, values: string): string => `INSERT INTO wallet_labels VALUES (1, ${type}, 'ref', '', ${values}, '{}', 0)`;
  const ofA = `WHERE id = ${text.tx('A')}`;
  return all('check', [
    ['trimmed_range', 'UPDATE event_counter SET trimmed_sequence = last_sequence + 1'],
    ['block_height_range', `INSERT INTO blocks VALUES (-1, ${hash}, 0)`],
    ['header_hash_length', `INSERT INTO blocks VALUES (50, ${short}, 0)`],
    ['block_timestamp_range', `INSERT INTO blocks VALUES (50, ${hash}, -1)`],
    ['wallet_name_given', "UPDATE wallets SET wallet_name = '' WHERE id = 1"],
    ['wallet_imported_flag', 'UPDATE wallets SET is_imported = 2 WHERE id = 1'],
    ['wallet_watch_only_flag', "INSERT INTO wallets (wallet_name, is_imported, manager_version, is_watch_only) VALUES ('x', 0, 1, 2)"],
    ['one_counter', 'INSERT INTO event_counter (id, last_sequence) VALUES (2, 0)'],
    ['one_watch_counter', 'INSERT INTO watch_counter VALUES (2, 0)'],
    ['unspent_amount_range', 'UPDATE wallet_totals SET unspent_amount = -1'],
    ['address_type_range', `INSERT INTO address_types VALUES (${NO_TYPE}, 'P2X')`],
    ['purpose_range', 'INSERT INTO key_scopes (wallet_id, purpose, coin_type, internal_type_id, external_type_id) VALUES (1, -1, 0, 4, 4)'],
    [
      'coin_type_range',
      'INSERT INTO key_scopes (wallet_id, purpose, coin_type, internal_type_id, external_type_id) VALUES (1, 1, -1, 4, 4)',
    ],
    ['next_account_range', 'UPDATE key_scopes SET next_account_number = -1 WHERE wallet_id = 1'],
    ['account_name_given', "UPDATE accounts SET account_name = '' WHERE wallet_id = 1"],
    [
      'account_derived_flag',
      "INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, created_at) SELECT 1, id, 'x', 2, 0 FROM key_scopes WHERE wallet_id = 1",
    ],
    [
      'account_number_range',
      "INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, account_number, created_at) SELECT 1, id, 'x', 1, -1, 0 FROM key_scopes WHERE wallet_id = 1",
    ],
    [
      'number_iff_derived',
      "INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, created_at) SELECT 1, id, 'x', 1, 0 FROM key_scopes WHERE wallet_id = 1",
    ],
    ['next_external_range', 'UPDATE accounts SET next_external_index = -1 WHERE wallet_id = 1'],
    ['next_internal_range', 'UPDATE accounts SET next_internal_index = -1 WHERE wallet_id = 1'],
    ['address_derived_flag', 'UPDATE addresses SET is_derived = 2 WHERE wallet_id = 1'],
    [
      'script_given',
      `INSERT INTO addresses (wallet_id, is_derived, script_pub_key, script_type_id, created_at) VALUES (1, 0, ${text.bytes(new Uint8Array())}, 4, 0)`,
    ],
    ['address_branch_range', `INSERT INTO derived_addresses SELECT ${text.address(3)}, 3, id, 2, 90 FROM accounts WHERE wallet_id = 3`],
    ['address_index_range', `INSERT INTO derived_addresses SELECT ${text.address(3)}, 3, id, 1, -1 FROM accounts WHERE wallet_id = 3`],
    ['label_type_range', label(6, 'NULL, NULL, NULL, NULL')],
    ['label_ref_given', label(1, 'NULL, NULL, NULL, NULL').replace("'ref'", "''")],
    ['label_tx_hash_length', label(0, `${short}, NULL, NULL, NULL`)],
    ['label_tx_index_range', label(4, `${hash}, -1, NULL, NULL`)],
    ['label_spendable_flag', label(4, `${hash}, 0, NULL, 2`)],
    ['label_foreign_flag', label(1, 'NULL, NULL, NULL, NULL').replace(/0\)$/, '2)')],
    ['label_of_tx', label(1, `${hash}, NULL, NULL, NULL`)],
    ['label_of_place', label(0, `${hash}, 0, NULL, NULL`)],
    ['label_spendable_output', label(3, `${hash}, 0, NULL, 0`)],
    ['given_change_flag', `INSERT INTO given_addresses VALUES (${text.address(1)}, 1, 2)`],
    ['tx_hash_length', newTx('NULL, NULL, 0, 0, 0').replace(hash, short)],
    ['confirmed_order_range', newTx('5, -1, 1, 0, 0')],
    ['tx_status_range', newTx('NULL, NULL, 5, 0, 0')],
    ['coinbase_flag', newTx('NULL, NULL, 0, 0, 2')],
    ['scripts_failed_flag', newTx('NULL, NULL, 0, 0, 0, 2').replace('is_coinbase)', 'is_coinbase, scripts_failed)')],
    ['tx_label_length', `UPDATE transactions SET tx_label = '${'x'.repeat(501)}' ${ofA}`],
    ['confirmed_is_published', newTx('5, 9, 0, 0, 0')],
    ['coinbase_state', newTx('NULL, NULL, 1, 0, 1')],
    ['coinbase_state', newTx('NULL, NULL, 4, 0, 0')],
    ['order_iff_confirmed', newTx('5, NULL, 1, 0, 0')],
    ['order_iff_confirmed', `UPDATE transactions SET confirmed_order = 1 ${ofA}`],
    [
      'input_index_range',
      `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) VALUES (1, ${text.tx('A')}, -1, ${hash}, 0)`,
    ],
    [
      'prev_tx_hash_length',
      `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) VALUES (1, ${text.tx('A')}, 7, ${short}, 0)`,
    ],
    [
      'prev_output_index_range',
      `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) VALUES (1, ${text.tx('A')}, 7, ${hash}, -1)`,
    ],
    [
      'holds_edge_flag',
      `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index, holds_edge) VALUES (1, ${text.tx('A')}, 7, ${hash}, 0, 2)`,
    ],
    [
      'not_itself',
      `INSERT INTO tx_replacements (wallet_id, replaced_tx_id, replacement_tx_id, created_at) VALUES (1, ${text.tx('A')}, ${text.tx('A')}, 0)`,
    ],
    ['output_index_range', newCoin(text, 'A', '-1, 5')],
    ['amount_range', newCoin(text, 'A', '7, -5')],
    ['spent_input_index_range', `UPDATE utxos SET spent_input_index = -1 WHERE id = ${text.coin('C')}`],
    ['whole_edge', `UPDATE utxos SET spent_by_tx_id = NULL WHERE id = ${text.coin('A')}`],
    ['lock_id_length', `UPDATE utxo_leases SET lock_id = ${short}`],
    ['release_confs_range', 'UPDATE utxo_leases SET release_confs = 0'],
  ]);
}

const newCoin = (text: SqlText, name: string, values: string, walletId = 1, addressOf = 1): string =>
  `INSERT INTO utxos (wallet_id, tx_id, tx_hash, output_index, amount, address_id)
   VALUES (${walletId}, ${text.tx(name)}, ${text.bytes(idOf(name))}, ${values}, ${text.address(addressOf)})`;

function uniques(text: SqlText): ConstraintCase[] {
  const scope = 'SELECT wallet_id, purpose, coin_type, internal_type_id, external_type_id FROM key_scopes WHERE wallet_id = 1';
  const account = (name: string, number: number): string =>
    `INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, account_number, created_at)
     SELECT 1, id, '${name}', 1, ${number}, 0 FROM key_scopes WHERE wallet_id = 1`;
  return all('unique', [
    ['header_hash_once', 'INSERT INTO blocks SELECT 60, header_hash, 0 FROM blocks WHERE block_height = 5'],
    [
      'label_once',
      `INSERT INTO wallet_labels VALUES (1, 1, 'ref', '', NULL, NULL, NULL, NULL, '{}', 0), (1, 1, 'ref', '', NULL, NULL, NULL, NULL, '{}', 0)`,
    ],
    ['wallet_name_once', "INSERT INTO wallets (wallet_name, is_imported, manager_version, is_watch_only) VALUES ('wallet 1', 0, 1, 1)"],
    ['address_types_type_name_key', "UPDATE address_types SET type_name = 'P2TR' WHERE id = 0"],
    ['scope_once', `INSERT INTO key_scopes (wallet_id, purpose, coin_type, internal_type_id, external_type_id) ${scope}`],
    ['account_name_once', account('main', 9)],
    ['account_number_once', account('other', 0)],
    [
      'script_once',
      'INSERT INTO addresses (wallet_id, is_derived, script_pub_key, script_type_id, created_at) SELECT wallet_id, 0, script_pub_key, 4, 0 FROM addresses WHERE wallet_id = 1',
    ],
    [
      'derivation_once',
      `INSERT INTO derived_addresses SELECT ${text.address(3)}, wallet_id, account_id, address_branch, address_index FROM derived_addresses WHERE wallet_id = 1`,
    ],
    [
      'tx_once',
      'INSERT INTO transactions (wallet_id, tx_hash, raw_tx, tx_outputs, tx_status, received_time, is_coinbase) SELECT wallet_id, tx_hash, raw_tx, tx_outputs, 0, 0, 0 FROM transactions WHERE wallet_id = 2',
    ],
    [
      'input_once',
      'INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) SELECT wallet_id, tx_id, input_index, prev_tx_hash, 9 FROM tx_inputs WHERE wallet_id = 2',
    ],
    [
      'replacement_once',
      'INSERT INTO tx_replacements (wallet_id, replaced_tx_id, replacement_tx_id, created_at) SELECT wallet_id, replaced_tx_id, replacement_tx_id, 0 FROM tx_replacements',
    ],
    ['outpoint_once', newCoin(text, 'A', '0, 5')],
    ['tx_of_wallet_block', `UPDATE transactions SET confirmed_order = 1 WHERE id = ${text.tx('C')}`],
  ]);
}

/** I12 and W78 among them: nothing leads from one wallet to another. */
function references(text: SqlText): ConstraintCase[] {
  const hash = text.bytes(idOf('x'));
  const secret = (table: string, id: string): string => `INSERT INTO ${table}_secrets VALUES (${id}, 3, ${hash})`;
  return all('foreign key', [
    ['wallet_sync_states_wallet_id_fkey', 'INSERT INTO wallet_sync_states (wallet_id) VALUES (99)'],
    ['synced_block', 'UPDATE wallet_sync_states SET synced_height = 77 WHERE wallet_id = 1'],
    ['synced_block', 'DELETE FROM blocks WHERE block_height = 5'],
    ['birthday_block', 'UPDATE wallet_sync_states SET birthday_height = 77 WHERE wallet_id = 1'],
    ['wallet_totals_wallet_id_fkey', 'INSERT INTO wallet_totals VALUES (99, 0)'],
    ['label_wallet', "INSERT INTO wallet_labels VALUES (99, 1, 'ref', '', NULL, NULL, NULL, NULL, '{}', 0)"],
    ['wallet_events_wallet_id_fkey', "INSERT INTO wallet_events VALUES (1000000, 99, '{}')"],
    [
      'key_scopes_wallet_id_fkey',
      'INSERT INTO key_scopes (wallet_id, purpose, coin_type, internal_type_id, external_type_id) VALUES (99, 1, 0, 4, 4)',
    ],
    ['key_scopes_internal_type_id_fkey', `UPDATE key_scopes SET internal_type_id = ${NO_TYPE}`],
    ['key_scopes_external_type_id_fkey', `UPDATE key_scopes SET external_type_id = ${NO_TYPE}`],
    [
      'account_scope',
      "INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, created_at) SELECT 2, id, 'x', 0, 0 FROM key_scopes WHERE wallet_id = 1",
    ],
    [
      'addresses_wallet_id_fkey',
      `INSERT INTO addresses (wallet_id, is_derived, script_pub_key, script_type_id, created_at) VALUES (99, 0, ${hash}, 4, 0)`,
    ],
    [
      'addresses_script_type_id_fkey',
      `INSERT INTO addresses (wallet_id, is_derived, script_pub_key, script_type_id, created_at) VALUES (1, 0, ${hash}, ${NO_TYPE}, 0)`,
    ],
    ['derived_address', `INSERT INTO derived_addresses SELECT ${text.address(3)}, 1, id, 1, 90 FROM accounts WHERE wallet_id = 1`],
    ['derived_account', `INSERT INTO derived_addresses SELECT ${text.address(3)}, 3, id, 1, 90 FROM accounts WHERE wallet_id = 1`],
    ['given_address', `INSERT INTO given_addresses VALUES (${text.address(1)}, 2, 1)`],
    ['wallet_secrets_wallet_id_fkey', 'INSERT INTO wallet_secrets (wallet_id) VALUES (99)'],
    ['key_scope_secret_owner', secret('key_scope', '99')],
    ['account_secret_owner', secret('account', '(SELECT id FROM accounts WHERE wallet_id = 2)')],
    ['address_secret_owner', secret('address', text.address(2))],
    [
      'transactions_wallet_id_fkey',
      `INSERT INTO transactions (wallet_id, tx_hash, raw_tx, tx_outputs, tx_status, received_time, is_coinbase) VALUES (99, ${hash}, ${hash}, ${hash}, 0, 0, 0)`,
    ],
    ['tx_block', `UPDATE transactions SET block_height = 77, confirmed_order = 0 WHERE id = ${text.tx('A')}`],
    [
      'input_tx',
      `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) VALUES (2, ${text.tx('A')}, 7, ${hash}, 0)`,
    ],
    [
      'replaced_tx',
      `INSERT INTO tx_replacements (wallet_id, replaced_tx_id, replacement_tx_id, created_at) VALUES (2, ${text.tx('A')}, ${text.tx('Z')}, 0)`,
    ],
    [
      'replacement_tx',
      `INSERT INTO tx_replacements (wallet_id, replaced_tx_id, replacement_tx_id, created_at) VALUES (2, ${text.tx('Z')}, ${text.tx('A')}, 0)`,
    ],
    ['funding_tx', newCoin(text, 'A', '7, 5', 2, 2)],
    ['owner_address', newCoin(text, 'A', '7, 5', 1, 2)],
    ['leased_utxo', `INSERT INTO utxo_leases (utxo_id, wallet_id, lock_id, expires_at) VALUES (${text.coin('Z')}, 1, ${hash}, 9)`],
    ['funding_tx', `DELETE FROM transactions WHERE id = ${text.tx('C')}`],
    ['spending_tx', `DELETE FROM transactions WHERE id = ${text.tx('B')}`],
  ]);
}

function immutables(text: SqlText): ConstraintCase[] {
  const hash = text.bytes(idOf('x'));
  return all('trigger', [
    ['wallets_immutable', 'UPDATE wallets SET is_watch_only = 0 WHERE id = 1'],
    ['key_scopes_immutable', 'UPDATE key_scopes SET wallet_id = 2 WHERE wallet_id = 1'],
    ['accounts_immutable', 'UPDATE accounts SET account_number = 8 WHERE wallet_id = 1'],
    ['addresses_immutable', 'UPDATE addresses SET wallet_id = 2 WHERE wallet_id = 1'],
    ['derived_addresses_immutable', 'UPDATE derived_addresses SET address_index = 90 WHERE wallet_id = 1'],
    ['transactions_immutable', `UPDATE transactions SET wallet_id = 2 WHERE id = ${text.tx('A')}`],
    ['tx_inputs_immutable', `UPDATE tx_inputs SET prev_tx_hash = ${hash}`],
    ['utxos_immutable', `UPDATE utxos SET amount = 9 WHERE id = ${text.coin('A')}`],
  ]);
}

/** I3, I4, I9 and W78. */
function edges(text: SqlText): ConstraintCase[] {
  const spend = (coin: string, by: string, input: number): string =>
    `UPDATE utxos SET spent_by_tx_id = ${text.tx(by)}, spent_input_index = ${input} WHERE id = ${text.coin(coin)}`;
  const bornSpent = (parent: string, by: string, input: number): string =>
    `INSERT INTO utxos (wallet_id, tx_id, tx_hash, output_index, amount, address_id, spent_by_tx_id, spent_input_index)
     VALUES (1, ${text.tx(parent)}, ${text.bytes(idOf(parent))}, 1, 5, ${text.address(1)}, ${text.tx(by)}, ${input})`;
  const otherHash = `INSERT INTO utxos (wallet_id, tx_id, tx_hash, output_index, amount, address_id)
     VALUES (1, ${text.tx('A')}, ${text.bytes(idOf('C'))}, 7, 5, ${text.address(1)})`;
  const held = (parent: string, output: number): string =>
    `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index, holds_edge)
     VALUES (1, ${text.tx('G')}, 7, ${text.bytes(idOf(parent))}, ${output}, 1)`;
  return all('trigger', [
    ['utxo_tx_hash', otherHash],
    ['edge_of_input_update', spend('C', 'B', 0)],
    ['edge_of_input_update', spend('A', 'B', 1)],
    ['edge_of_input_update', spend('A', 'F', 0)],
    ['edge_of_input_update', spend('A', 'Z', 0)],
    ['edge_of_input_insert', bornSpent('A', 'C', 0)],
    ['edge_of_live_parent_update', spend('F', 'G', 5)],
    ['edge_of_live_parent_insert', bornSpent('F', 'G', 6)],
    ['held_input_update', `UPDATE tx_inputs SET holds_edge = 0 WHERE tx_id = ${text.tx('B')}`],
    ['held_input_update', `UPDATE tx_inputs SET holds_edge = 1 WHERE tx_id = ${text.tx('F')}`],
    ['held_input_insert', held('C', 1)],
    ['held_input_insert', held('A', 0)],
    ['held_input_insert', held('F', 0)],
    ['held_input_insert', held('Z', 0)],
    ['dead_tx_holds_nothing', `UPDATE transactions SET tx_status = 3 WHERE id = ${text.tx('B')}`],
    ['dead_tx_is_not_spent', `UPDATE transactions SET tx_status = 2 WHERE id = ${text.tx('A')}`],
  ]);
}

/** A wallet that only watches has no secrets of any kind. */
function secrets(text: SqlText): ConstraintCase[] {
  const key = text.bytes(idOf('key'));
  const tables = [
    ['key_scope_secrets', '(SELECT id FROM key_scopes WHERE wallet_id = 1)'],
    ['account_secrets', '(SELECT id FROM accounts WHERE wallet_id = 1)'],
    ['address_secrets', text.address(1)],
  ] as const;
  return all('trigger', [
    ['wallet_secrets_watch_only_insert', `INSERT INTO wallet_secrets (wallet_id, master_priv_params) VALUES (1, ${key})`],
    ['wallet_secrets_watch_only_update', 'UPDATE wallet_secrets SET wallet_id = 1 WHERE wallet_id = 3'],
    ...tables.map(([table, id]) => [`${table}_watch_only_insert`, `INSERT INTO ${table} VALUES (${id}, 1, ${key})`] as const),
    ...tables.map(
      ([table, id]) =>
        [`${table}_watch_only_update`, `UPDATE ${table} SET wallet_id = 1, ${table.replace('_secrets', '_id')} = ${id}`] as const,
    ),
  ]);
}
