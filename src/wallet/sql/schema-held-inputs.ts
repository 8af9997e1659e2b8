/**
 * `tx_inputs.holds_edge`: whether a coin names the input as the one that spends
 * it. The edge itself is in the coin; the flag follows it by triggers, whoever
 * changes the coin. Who spends an outpoint is looked up in two places: inputs that
 * hold no edge in an index by outpoint, all others through the coin.
 */

const flagged = (row: 'NEW' | 'OLD', flag: 0 | 1): string =>
  `UPDATE tx_inputs SET holds_edge = ${flag} WHERE tx_id = ${row}.spent_by_tx_id AND input_index = ${row}.spent_input_index AND holds_edge <> ${flag}`;

const NEW_EDGE = 'NEW.spent_by_tx_id IS NOT NULL';
const OLD_EDGE = 'OLD.spent_by_tx_id IS NOT NULL';
const UPDATE = 'UPDATE OF spent_by_tx_id, spent_input_index ON utxos';
const OTHER_EDGE = ['spent_by_tx_id', 'spent_input_index'].map((column) => `NEW.${column} IS DISTINCT FROM OLD.${column}`).join(' OR ');

/** Most inputs have the flag before their edge: to find that out is cheaper than an update that changes nothing. */
const IS_UNFLAGGED =
  'EXISTS (SELECT 1 FROM tx_inputs i WHERE i.tx_id = NEW.spent_by_tx_id AND i.input_index = NEW.spent_input_index AND i.holds_edge = 0)';

export const SQLITE_HELD_INPUTS: readonly string[] = [
  `CREATE TRIGGER edge_flag_insert AFTER INSERT ON utxos WHEN ${NEW_EDGE} BEGIN ${flagged('NEW', 1)}; END`,
  `CREATE TRIGGER edge_flag_delete AFTER DELETE ON utxos WHEN ${OLD_EDGE} BEGIN ${flagged('OLD', 0)}; END`,
  `CREATE TRIGGER edge_flag_update AFTER ${UPDATE} WHEN (${OTHER_EDGE}) AND (${OLD_EDGE} OR ${IS_UNFLAGGED}) BEGIN ${flagged('OLD', 0)}; ${flagged('NEW', 1)}; END`,
];

const postgresFlag = (event: 'insert' | 'delete' | 'update', on: string, when: string, statements: readonly string[]): string[] => [
  `CREATE FUNCTION edge_flag_${event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements.join('; ')}; RETURN NULL; END $$`,
  `CREATE TRIGGER edge_flag_${event} AFTER ${on} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION edge_flag_${event}()`,
];

export const POSTGRES_HELD_INPUTS: readonly string[] = [
  ...postgresFlag('insert', 'INSERT ON utxos', NEW_EDGE, [flagged('NEW', 1)]),
  ...postgresFlag('delete', 'DELETE ON utxos', OLD_EDGE, [flagged('OLD', 0)]),
  ...postgresFlag('update', UPDATE, OTHER_EDGE, [flagged('OLD', 0), flagged('NEW', 1)]),
];
