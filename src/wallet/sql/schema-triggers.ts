/**
 * What keys and checks cannot say, as triggers: columns that never change,
 * secrets that a watch-only wallet must not have, edges that only a live
 * transaction with that very input may hold, what the deletion of a block does to
 * its transactions, and the version of what is watched. The rules are one list; each database has its own
 * way of writing them.
 */
import { POSTGRES_HELD_INPUTS, SQLITE_HELD_INPUTS } from './schema-held-inputs.ts';
import { POSTGRES_TOTALS, SQLITE_TOTALS } from './schema-totals.ts';

/** A change is refused if the condition holds. `NEW` and `OLD` are the row after and before. */
interface Refusal {
  readonly name: string;
  readonly table: string;
  readonly on: string;
  /** Without a look at other rows: decided before anything is called. */
  readonly given: string;
  /** With a look at other rows. */
  readonly when?: string;
  readonly message: string;
}

const immutable = (table: string, columns: readonly string[]): Refusal => ({
  name: `${table}_immutable`,
  table,
  on: `UPDATE OF ${columns.join(', ')}`,
  given: columns.map((column) => `NEW.${column} IS DISTINCT FROM OLD.${column}`).join(' OR '),
  message: `${columns.join(', ')} of ${table} never change`,
});

const watchOnlySecret = (table: string, event: 'INSERT' | 'UPDATE', columns: readonly string[]): Refusal => ({
  name: `${table}_watch_only_${event.toLowerCase()}`,
  table,
  on: event,
  given: columns.map((column) => `NEW.${column} IS NOT NULL`).join(' OR '),
  when: `EXISTS (SELECT 1 FROM wallets w WHERE w.id = NEW.wallet_id AND w.is_watch_only = 1)`,
  message: `a watch-only wallet has no ${table}`,
});

const WALLET_SECRETS = ['master_priv_params', 'encrypted_crypto_priv_key', 'encrypted_crypto_script_key', 'encrypted_master_hd_priv_key'];

const KEY_SECRETS = ['key_scope_secrets', 'account_secrets', 'address_secrets'];

const isEdge = 'NEW.spent_by_tx_id IS NOT NULL';
const withoutInput = `NOT EXISTS (
    SELECT 1 FROM tx_inputs i JOIN transactions s ON s.id = i.tx_id
    WHERE i.tx_id = NEW.spent_by_tx_id AND i.input_index = NEW.spent_input_index AND i.wallet_id = NEW.wallet_id
      AND i.prev_tx_hash = NEW.tx_hash AND i.prev_output_index = NEW.output_index AND s.tx_status IN (0, 1))`;
const ofDeadParent = 'EXISTS (SELECT 1 FROM transactions p WHERE p.id = NEW.tx_id AND p.tx_status > 1)';

const edgeRefusals = (event: 'INSERT' | 'UPDATE'): Refusal[] => {
  const on = event === 'INSERT' ? 'INSERT' : 'UPDATE OF spent_by_tx_id, spent_input_index';
  const suffix = event.toLowerCase();
  return [
    {
      name: `edge_of_input_${suffix}`,
      table: 'utxos',
      on,
      given: isEdge,
      when: withoutInput,
      message: 'a spend edge is an input of a live transaction',
    },
    {
      name: `edge_of_live_parent_${suffix}`,
      table: 'utxos',
      on,
      given: isEdge,
      when: ofDeadParent,
      message: 'a coin of a dead transaction is not spent',
    },
  ];
};

const REFUSALS: readonly Refusal[] = [
  immutable('wallets', ['id', 'is_watch_only']),
  immutable('key_scopes', ['id', 'wallet_id', 'purpose', 'coin_type']),
  immutable('accounts', ['id', 'wallet_id', 'scope_id', 'is_derived', 'account_number', 'public_key', 'master_fingerprint']),
  immutable('addresses', ['id', 'wallet_id', 'script_pub_key', 'script_type_id']),
  immutable('derived_addresses', ['address_id', 'wallet_id', 'account_id', 'address_branch', 'address_index']),
  immutable('transactions', ['id', 'wallet_id', 'tx_hash', 'raw_tx', 'tx_outputs', 'is_coinbase', 'scripts_failed']),
  immutable('tx_inputs', ['id', 'wallet_id', 'tx_id', 'input_index', 'prev_tx_hash', 'prev_output_index']),
  immutable('utxos', ['id', 'wallet_id', 'tx_id', 'tx_hash', 'output_index', 'amount', 'address_id', 'script_pub_key', 'output_holding']),
  watchOnlySecret('wallet_secrets', 'INSERT', WALLET_SECRETS),
  watchOnlySecret('wallet_secrets', 'UPDATE', WALLET_SECRETS),
  ...KEY_SECRETS.flatMap((table) => [
    watchOnlySecret(table, 'INSERT', ['encrypted_priv_key']),
    watchOnlySecret(table, 'UPDATE', ['encrypted_priv_key']),
  ]),
  {
    name: 'utxo_tx_hash',
    table: 'utxos',
    on: 'INSERT',
    given: 'true',
    when: 'NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = NEW.tx_id AND t.tx_hash = NEW.tx_hash)',
    message: 'a credit has the hash of its transaction',
  },
  ...edgeRefusals('INSERT'),
  ...edgeRefusals('UPDATE'),
  {
    // Set ahead of the edge by whoever is about to set that, so that the input never enters the index by outpoint.
    name: 'held_input_insert',
    table: 'tx_inputs',
    on: 'INSERT',
    given: 'NEW.holds_edge = 1',
    when: `NOT EXISTS (SELECT 1 FROM transactions p JOIN utxos u ON u.tx_id = p.id
      WHERE p.wallet_id = NEW.wallet_id AND p.tx_hash = NEW.prev_tx_hash AND p.tx_status IN (0, 1)
        AND u.output_index = NEW.prev_output_index AND u.spent_by_tx_id IS NULL)`,
    message: 'an input holds an edge only on a coin that is unspent',
  },
  {
    name: 'held_input_update',
    table: 'tx_inputs',
    on: 'UPDATE OF holds_edge',
    given: 'NEW.holds_edge <> OLD.holds_edge',
    when: `NEW.holds_edge <> (SELECT COUNT(*) FROM utxos u WHERE u.spent_by_tx_id = NEW.tx_id AND u.spent_input_index = NEW.input_index)`,
    message: 'an input holds an edge if a coin says so',
  },
  {
    name: 'dead_tx_holds_nothing',
    table: 'transactions',
    on: 'UPDATE OF tx_status',
    given: 'NEW.tx_status > 1',
    when: 'EXISTS (SELECT 1 FROM utxos u WHERE u.spent_by_tx_id = NEW.id)',
    message: 'a dead transaction spends nothing',
  },
  {
    // An orphaned coinbase is left out: a block may be deleted before the descendants of its coinbase are failed.
    name: 'dead_tx_is_not_spent',
    table: 'transactions',
    on: 'UPDATE OF tx_status',
    given: 'NEW.tx_status IN (2, 3)',
    when: 'EXISTS (SELECT 1 FROM utxos u WHERE u.tx_id = NEW.id AND u.spent_by_tx_id IS NOT NULL)',
    message: 'a coin of a dead transaction is not spent',
  },
];

/** SQLite deletes a block in two steps of ours: first its transactions are detached, then the foreign key finds none. */
const SQLITE_DISCONNECT = `CREATE TRIGGER block_disconnect BEFORE DELETE ON blocks BEGIN
    UPDATE transactions SET block_height = NULL, confirmed_order = NULL, tx_status = CASE WHEN is_coinbase = 1 THEN 4 ELSE tx_status END
    WHERE block_height = OLD.block_height;
  END`;

/** In PostgreSQL the foreign key sets the height to null, and this completes that very update. */
const POSTGRES_DISCONNECT = [
  `CREATE FUNCTION tx_disconnect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.block_height IS NULL THEN
      NEW.confirmed_order := NULL;
      IF NEW.is_coinbase = 1 THEN NEW.tx_status := 4; END IF;
    END IF;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER tx_disconnect BEFORE UPDATE OF block_height ON transactions FOR EACH ROW
    WHEN (OLD.block_height IS NOT NULL AND NEW.block_height IS NULL) EXECUTE FUNCTION tx_disconnect()`,
];

const RAISE_VERSION = 'UPDATE watch_counter SET last_version = last_version + 1 WHERE id = 1';
const ACCOUNT_MOVES = 'UPDATE OF next_external_index, next_internal_index ON accounts';

/** An account keeps the version at which it changed. */
const sqliteAccountWatch = (suffix: string, event: string): string => `CREATE TRIGGER account_watched_${suffix} AFTER ${event} BEGIN
    ${RAISE_VERSION};
    UPDATE accounts SET watch_version = (SELECT last_version FROM watch_counter WHERE id = 1) WHERE id = NEW.id;
  END`;

/** Whatever adds to what is watched raises its version. */
const SQLITE_WATCH = [
  `CREATE TRIGGER wallet_watched AFTER INSERT ON wallets BEGIN ${RAISE_VERSION}; END`,
  `CREATE TRIGGER address_watched AFTER INSERT ON addresses BEGIN ${RAISE_VERSION}; END`,
  sqliteAccountWatch('insert', 'INSERT ON accounts'),
  sqliteAccountWatch('update', ACCOUNT_MOVES),
];

/** Once for a statement, however many addresses it adds: each update of the counter leaves a row behind until it is vacuumed. */
const POSTGRES_WATCH = [
  `CREATE FUNCTION watch_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${RAISE_VERSION}; RETURN NULL; END $$`,
  'CREATE TRIGGER wallet_watched AFTER INSERT ON wallets FOR EACH STATEMENT EXECUTE FUNCTION watch_grows()',
  'CREATE TRIGGER address_watched AFTER INSERT ON addresses FOR EACH STATEMENT EXECUTE FUNCTION watch_grows()',
  `CREATE FUNCTION account_watched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ${RAISE_VERSION} RETURNING last_version INTO NEW.watch_version;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER account_watched BEFORE INSERT OR ${ACCOUNT_MOVES} FOR EACH ROW EXECUTE FUNCTION account_watched()`,
];

export function sqliteTriggers(): string[] {
  return [
    ...REFUSALS.map(
      ({ name, table, on, given, when = 'true', message }) =>
        `CREATE TRIGGER ${name} BEFORE ${on} ON ${table} WHEN (${given}) AND ${when} BEGIN SELECT RAISE(ABORT, '${name}: ${message}'); END`,
    ),
    SQLITE_DISCONNECT,
    ...SQLITE_WATCH,
    ...SQLITE_HELD_INPUTS,
    ...SQLITE_TOTALS,
  ];
}

export function postgresTriggers(): string[] {
  return [
    ...REFUSALS.flatMap(({ name, table, on, given, when = 'true', message }) => [
      `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF ${when} THEN RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = '${name}', MESSAGE = '${name}: ${message}'; END IF;
        RETURN NEW;
      END $$`,
      `CREATE TRIGGER ${name} BEFORE ${on} ON ${table} FOR EACH ROW WHEN (${given}) EXECUTE FUNCTION ${name}()`,
    ]),
    ...POSTGRES_DISCONNECT,
    ...POSTGRES_WATCH,
    ...POSTGRES_HELD_INPUTS,
    ...POSTGRES_TOTALS,
  ];
}
