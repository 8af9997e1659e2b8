/**
 * The tables of wallets, as the query builder sees them. What the database holds
 * them to (keys, checks, triggers) stands in schema-tables.ts and schema-triggers.ts.
 *
 * One shape for both databases: whole numbers come as `number`, truth as 0 or 1,
 * bytes as Uint8Array. Amounts can be wider than a `number`: they are written as
 * bigint and read as text (`amountText` of lists.ts).
 */
import type { ColumnType, Generated } from 'kysely';

type Flag = 0 | 1;
/** Never read as it is. */
type Amount = ColumnType<never, bigint, bigint>;

export interface WalletTables {
  wallet_schema: { version: number; name: string };
  /** `trimmed_sequence`: events up to it are forgotten. */
  event_counter: { id: number; last_sequence: number; trimmed_sequence: number };
  watch_counter: { id: number; last_version: number };
  blocks: { block_height: number; header_hash: Uint8Array; block_timestamp: number };
  wallets: {
    id: Generated<number>;
    wallet_name: string;
    is_imported: Flag;
    manager_version: number;
    is_watch_only: Flag;
    master_hd_pub_key: Uint8Array | null;
  };
  wallet_secrets: {
    wallet_id: number;
    master_priv_params: Uint8Array | null;
    encrypted_crypto_priv_key: Uint8Array | null;
    encrypted_crypto_script_key: Uint8Array | null;
    encrypted_master_hd_priv_key: Uint8Array | null;
  };
  wallet_sync_states: {
    wallet_id: number;
    synced_height: number | null;
    birthday_height: number | null;
    birthday_timestamp: number | null;
  };
  feed_positions: { feed: string; feed_position: string };
  key_scopes: {
    id: Generated<number>;
    wallet_id: number;
    purpose: number;
    coin_type: number;
    coin_pub_key: Uint8Array | null;
    next_account_number: number;
    internal_type_id: number;
    external_type_id: number;
  };
  accounts: {
    id: Generated<number>;
    wallet_id: number;
    scope_id: number;
    account_name: string;
    is_derived: Flag;
    account_number: number | null;
    master_fingerprint: number | null;
    public_key: Uint8Array | null;
    created_at: number;
    next_external_index: number;
    next_internal_index: number;
    /** Of the watched set, when the account was made or got addresses; a trigger sets it. */
    watch_version: Generated<number>;
  };
  addresses: {
    id: Generated<number>;
    wallet_id: number;
    is_derived: Flag;
    script_pub_key: Uint8Array;
    script_type_id: number;
    pub_key: Uint8Array | null;
    created_at: number;
  };
  given_addresses: { address_id: number; wallet_id: number; is_change: Flag };
  derived_addresses: { address_id: number; wallet_id: number; account_id: number; address_branch: Flag; address_index: number };
  transactions: {
    id: Generated<number>;
    wallet_id: number;
    tx_hash: Uint8Array;
    raw_tx: Uint8Array;
    tx_outputs: Uint8Array;
    block_height: number | null;
    confirmed_order: number | null;
    tx_status: number;
    received_time: number;
    is_coinbase: Flag;
    scripts_failed: Flag;
    tx_label: string;
    mempool_seen_at: number | null;
    mempool_evicted_at: number | null;
  };
  tx_inputs: {
    id: Generated<number>;
    wallet_id: number;
    tx_id: number;
    input_index: number;
    prev_tx_hash: Uint8Array;
    prev_output_index: number;
    /** A coin names this input as the one that spends it; triggers see to it. */
    holds_edge: Generated<Flag>;
  };
  utxos: {
    id: Generated<number>;
    wallet_id: number;
    tx_id: number;
    tx_hash: Uint8Array;
    output_index: number;
    amount: Amount;
    address_id: number;
    /** Null: that of the address. Another: a bare multisig that one of its keys owns, or an address that a stake credential does. */
    script_pub_key: Uint8Array | null;
    /** What it has besides its amount (tx-outputs.ts); null: nothing. */
    output_holding: Uint8Array | null;
    spent_by_tx_id: number | null;
    spent_input_index: number | null;
  };
  tx_replacements: { id: Generated<number>; wallet_id: number; replaced_tx_id: number; replacement_tx_id: number; created_at: number };
  utxo_leases: { utxo_id: number; wallet_id: number; lock_id: Uint8Array; expires_at: number; release_confs: number | null };
  wallet_totals: { wallet_id: number; unspent_amount: Amount };
  wallet_labels: {
    wallet_id: number;
    label_type: number;
    label_ref: string;
    label_origin: string;
    tx_hash: Uint8Array | null;
    tx_index: number | null;
    label_text: string | null;
    is_spendable: Flag | null;
    label_others: string;
    is_foreign: Flag;
  };
  wallet_events: { event_sequence: number; wallet_id: number; event_json: string };
}
