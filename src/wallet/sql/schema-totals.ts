/**
 * What a wallet has in all, kept by triggers: the sum of its unspent outputs of
 * live transactions. A balance is made of it and of the few coins that are not
 * plainly confirmed (balance.ts), instead of a sum over all coins. Whatever
 * changes a coin or the status of a transaction changes the sum in the same
 * transaction, whoever asked for it.
 *
 * In PostgreSQL a statement changes a sum once, however many rows it has: every
 * update of a row leaves the old one behind until it is vacuumed.
 */
import type { ColumnTypes } from '../../sql/column-types.ts';

export function totalsTable({ integer, table }: ColumnTypes): string[] {
  return [
    `CREATE TABLE wallet_totals (
      wallet_id ${integer} PRIMARY KEY REFERENCES wallets (id) ON DELETE CASCADE,
      unspent_amount ${integer} NOT NULL CONSTRAINT unspent_amount_range CHECK (unspent_amount >= 0)
    )${table}`,
  ];
}

const sqliteChange = (name: string, on: string, when: string, change: string, row: 'NEW' | 'OLD'): string =>
  `CREATE TRIGGER ${name} AFTER ${on} WHEN ${when} BEGIN
    UPDATE wallet_totals SET unspent_amount = unspent_amount + ${change} WHERE wallet_id = ${row}.wallet_id;
  END`;

const ofLive = (row: 'NEW' | 'OLD'): string => `(SELECT tx_status FROM transactions WHERE id = ${row}.tx_id) <= 1`;
const UNSPENT_OF_TX = '(SELECT COALESCE(SUM(amount), 0) FROM utxos WHERE tx_id = NEW.id AND spent_by_tx_id IS NULL)';

export const SQLITE_TOTALS: readonly string[] = [
  'CREATE TRIGGER total_begin AFTER INSERT ON wallets BEGIN INSERT INTO wallet_totals (wallet_id, unspent_amount) VALUES (NEW.id, 0); END',
  sqliteChange('total_insert', 'INSERT ON utxos', `NEW.spent_by_tx_id IS NULL AND ${ofLive('NEW')}`, 'NEW.amount', 'NEW'),
  sqliteChange('total_delete', 'DELETE ON utxos', `OLD.spent_by_tx_id IS NULL AND ${ofLive('OLD')}`, '-OLD.amount', 'OLD'),
  sqliteChange(
    'total_edge',
    'UPDATE OF spent_by_tx_id ON utxos',
    `(OLD.spent_by_tx_id IS NULL) <> (NEW.spent_by_tx_id IS NULL) AND ${ofLive('NEW')}`,
    '(CASE WHEN NEW.spent_by_tx_id IS NULL THEN NEW.amount ELSE -NEW.amount END)',
    'NEW',
  ),
  sqliteChange(
    'total_status',
    'UPDATE OF tx_status ON transactions',
    '(OLD.tx_status <= 1) <> (NEW.tx_status <= 1)',
    `(CASE WHEN NEW.tx_status <= 1 THEN 1 ELSE -1 END) * ${UNSPENT_OF_TX}`,
    'NEW',
  ),
];

const postgresChange = (name: string, changes: string): string =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE wallet_totals w SET unspent_amount = w.unspent_amount + s.amount FROM (
      SELECT c.wallet_id, SUM(c.amount)::bigint AS amount FROM (${changes}) c GROUP BY c.wallet_id
    ) s WHERE w.wallet_id = s.wallet_id;
    RETURN NULL;
  END $$`;

/** Rows are looked up one by one: the plan is made once, whether the first statement has one row or ten thousand. */
const unspentOf = (rows: string, sign: '' | '-'): string =>
  `SELECT r.wallet_id, ${sign}r.amount AS amount FROM ${rows} r
    WHERE r.spent_by_tx_id IS NULL AND (SELECT t.tx_status FROM transactions t WHERE t.id = r.tx_id) <= 1`;

/** Transactions that came to life or died: those that are in one of the two lists of live ones only. */
const TURNED = `SELECT f.wallet_id, SUM(f.sign) * (
    SELECT COALESCE(SUM(u.amount), 0) FROM utxos u WHERE u.tx_id = f.id AND u.spent_by_tx_id IS NULL) AS amount
  FROM (SELECT id, wallet_id, 1 AS sign FROM after WHERE tx_status <= 1 UNION ALL SELECT id, wallet_id, -1 FROM before WHERE tx_status <= 1) f
  GROUP BY f.id, f.wallet_id HAVING SUM(f.sign) <> 0`;

export const POSTGRES_TOTALS: readonly string[] = [
  `CREATE FUNCTION total_begin() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO wallet_totals (wallet_id, unspent_amount) VALUES (NEW.id, 0);
    RETURN NULL;
  END $$`,
  postgresChange('total_insert', unspentOf('after', '')),
  postgresChange('total_delete', unspentOf('before', '-')),
  postgresChange('total_edge', `${unspentOf('after', '')} UNION ALL ${unspentOf('before', '-')}`),
  postgresChange('total_status', TURNED),
  'CREATE TRIGGER total_begin AFTER INSERT ON wallets FOR EACH ROW EXECUTE FUNCTION total_begin()',
  'CREATE TRIGGER total_insert AFTER INSERT ON utxos REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION total_insert()',
  'CREATE TRIGGER total_delete AFTER DELETE ON utxos REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION total_delete()',
  `CREATE TRIGGER total_edge AFTER UPDATE ON utxos REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION total_edge()`,
  `CREATE TRIGGER total_status AFTER UPDATE ON transactions REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION total_status()`,
];
