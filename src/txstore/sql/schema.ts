/**
 * The tables of the transaction store in SQL, in one text for both databases.
 *
 *   tx                 a record: its counts, flags and heights
 *   tx_in              its inputs
 *   tx_out             its outputs, each with its slot
 *   tx_block           the blocks that hold it
 *   conflicting_child  losers that spend of it, too
 *   tombstone          children that a pass has deleted while it stayed
 *   prune_progress     how far pruning is: one row
 *   txs_feed           how far the records are in the events of the chain
 *   pruned_blob        records that a pass has deleted, until what belongs to them elsewhere is gone, too
 *
 * Rows are found by the id of their transaction and not by a number that the
 * database gives out: ids are spread evenly over a database of many servers, and
 * nobody has to ask for a number first. Checks have names, which the messages of
 * the database and the tests say.
 */
import { type ColumnTypes, POSTGRES_TYPES, SQLITE_TYPES } from '../../sql/column-types.ts';
import type { SqlKind } from '../../sql/database.ts';
import { feedTable } from '../../sql/feed-position.ts';
import type { SchemaHistory } from '../../sql/migrate.ts';

/** The table that says how far the records are in the events of the chain. */
export const TXS_FEED = 'txs_feed';

/** What a reorganisation takes away. New blocks come at the end of it, which costs little. */
const BLOCKS_BY_HEIGHT = 'CREATE INDEX tx_block_height ON tx_block (block_height)';

const typesOf = (kind: SqlKind): ColumnTypes => (kind === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES);

export const TX_STORE_SCHEMA: SchemaHistory = {
  table: 'txstore_schema',
  lock: 7_365_776_144,
  migrations: [
    {
      name: 'transactions',
      statements: (kind) => [...recordTables(kind), ...INDEXES],
    },
    {
      name: 'feed',
      statements: (kind) => [feedTable(TXS_FEED, typesOf(kind)), BLOCKS_BY_HEIGHT],
    },
    {
      name: 'blobs',
      statements: (kind) => [
        `CREATE TABLE pruned_blob (
          hash ${typesOf(kind).bytes} NOT NULL PRIMARY KEY CONSTRAINT pruned_blob_length CHECK (length(hash) = 32)
        )${tableOf(kind)}`,
      ],
    },
  ],
};

/** SQLite keeps a table without row numbers in the order of its key, so that a record is one lookup and not two. */
function tableOf(kind: SqlKind): string {
  return kind === 'sqlite' ? ' STRICT, WITHOUT ROWID' : '';
}

function recordTables(kind: SqlKind): string[] {
  const { integer, bytes } = typesOf(kind);
  const table = tableOf(kind);
  const flag = (name: string): string => `${name} ${integer} NOT NULL CONSTRAINT ${name}_flag CHECK (${name} IN (0, 1))`;
  const height = (name: string): string => `${name} ${integer} CONSTRAINT ${name}_range CHECK (${name} >= 0 AND ${name} <= 4294967295)`;
  const hash = (name: string, check: string): string => `${name} ${bytes} CONSTRAINT ${check} CHECK (length(${name}) = 32)`;
  const owner = (check: string): string => `tx_hash ${bytes} NOT NULL CONSTRAINT ${check} REFERENCES tx (hash) ON DELETE CASCADE`;
  return [
    `CREATE TABLE tx (
      hash ${bytes} NOT NULL PRIMARY KEY CONSTRAINT tx_hash_length CHECK (length(hash) = 32),
      version ${integer} NOT NULL CONSTRAINT version_range CHECK (version > 0),
      output_count ${integer} NOT NULL CONSTRAINT output_count_range CHECK (output_count >= 0),
      spendable ${integer} NOT NULL,
      spent_count ${integer} NOT NULL CONSTRAINT spent_count_range CHECK (spent_count >= 0 AND spent_count <= spendable),
      ${flag('is_coinbase')},
      ${height('coinbase_spendable_at')},
      ${flag('is_conflicting')},
      ${flag('is_locked')},
      ${flag('is_creating')},
      ${height('delete_at_height')},
      ${height('unmined_since')},
      ${height('preserve_until')},
      CONSTRAINT coinbase_is_complete CHECK ((is_coinbase = 1) = (coinbase_spendable_at IS NOT NULL)),
      CONSTRAINT preserved_is_not_due CHECK (delete_at_height IS NULL OR preserve_until IS NULL),
      CONSTRAINT due_is_done CHECK (delete_at_height IS NULL OR is_conflicting = 1
        OR (spent_count = spendable AND unmined_since IS NULL AND is_locked = 0 AND is_creating = 0))
    )${table}`,
    `CREATE TABLE tx_in (
      ${owner('input_owner')},
      idx ${integer} NOT NULL CONSTRAINT input_index_range CHECK (idx >= 0),
      ${hash('prev_hash', 'prev_hash_length')} NOT NULL,
      prev_idx ${integer} NOT NULL CONSTRAINT prev_index_range CHECK (prev_idx >= 0),
      PRIMARY KEY (tx_hash, idx)
    )${table}`,
    `CREATE TABLE tx_out (
      ${owner('output_owner')},
      idx ${integer} NOT NULL CONSTRAINT output_index_range CHECK (idx >= 0),
      amount ${integer} NOT NULL CONSTRAINT amount_range CHECK (amount >= 0),
      script ${bytes} NOT NULL,
      ${hash('slot_hash', 'slot_hash_length')},
      ${flag('is_frozen')},
      ${height('spendable_from')},
      ${hash('spent_by_hash', 'spent_by_hash_length')},
      spent_vin ${integer} CONSTRAINT spent_vin_range CHECK (spent_vin >= 0),
      PRIMARY KEY (tx_hash, idx),
      CONSTRAINT spender_is_complete CHECK ((spent_by_hash IS NULL) = (spent_vin IS NULL)),
      CONSTRAINT frozen_is_not_spent CHECK (is_frozen = 0 OR spent_by_hash IS NULL),
      CONSTRAINT unspendable_is_untouched CHECK (slot_hash IS NOT NULL
        OR (is_frozen = 0 AND spent_by_hash IS NULL AND spendable_from IS NULL))
    )${table}`,
    `CREATE TABLE tx_block (
      ${owner('block_owner')},
      place ${integer} NOT NULL CONSTRAINT block_place_range CHECK (place >= 0),
      ${hash('block_hash', 'block_hash_length')} NOT NULL,
      block_height ${integer} NOT NULL CONSTRAINT block_height_range CHECK (block_height > 0 AND block_height <= 4294967295),
      block_index ${integer} NOT NULL CONSTRAINT block_index_range CHECK (block_index >= 0),
      ${flag('is_on_best_chain')},
      PRIMARY KEY (tx_hash, place),
      CONSTRAINT block_once UNIQUE (tx_hash, block_hash)
    )${table}`,
    `CREATE TABLE conflicting_child (
      ${owner('conflicting_parent')},
      child_hash ${bytes} NOT NULL CONSTRAINT conflicting_child_is_there REFERENCES tx (hash) ON DELETE CASCADE,
      PRIMARY KEY (tx_hash, child_hash)
    )${table}`,
    `CREATE TABLE tombstone (
      ${owner('tombstone_owner')},
      ${hash('child_hash', 'tombstone_child_length')} NOT NULL,
      pruned_at ${integer} NOT NULL CONSTRAINT pruned_at_range CHECK (pruned_at >= 0 AND pruned_at <= 4294967295),
      PRIMARY KEY (tx_hash, child_hash)
    )${table}`,
    `CREATE TABLE prune_progress (
      id ${integer} NOT NULL PRIMARY KEY CONSTRAINT one_progress CHECK (id = 1),
      last_completed ${integer} NOT NULL,
      pruned_height ${integer} NOT NULL,
      unfinished_height ${integer},
      cursor_height ${integer},
      cursor_hash ${bytes},
      CONSTRAINT cursor_is_complete CHECK ((cursor_height IS NULL) = (cursor_hash IS NULL)),
      CONSTRAINT cursor_of_pass CHECK (cursor_height IS NULL OR unfinished_height IS NOT NULL)
    )${table}`,
    'INSERT INTO prune_progress (id, last_completed, pruned_height) VALUES (1, 0, 0)',
  ];
}

/** By height and then by id: the order in which passes read. Few records have such a height. */
const INDEXES: readonly string[] = [
  'CREATE INDEX tx_due ON tx (delete_at_height, hash) WHERE delete_at_height IS NOT NULL',
  'CREATE INDEX tx_unmined ON tx (unmined_since, hash) WHERE unmined_since IS NOT NULL',
  'CREATE INDEX tx_preserved ON tx (preserve_until, hash) WHERE preserve_until IS NOT NULL',
  'CREATE INDEX tx_in_parent ON tx_in (prev_hash, tx_hash)',
  'CREATE INDEX conflicting_child_back ON conflicting_child (child_hash)',
];
