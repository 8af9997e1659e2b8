/** How the schema of wallets came to be. */
import { POSTGRES_TYPES, SQLITE_TYPES } from '../../sql/column-types.ts';
import type { SchemaHistory } from '../../sql/migrate.ts';
import { labelStatements } from './schema-labels.ts';
import { tableStatements } from './schema-tables.ts';
import { postgresTriggers, sqliteTriggers } from './schema-triggers.ts';
import { sqliteStatistics } from './sqlite-statistics.ts';

export const WALLET_SCHEMA: SchemaHistory = {
  table: 'wallet_schema',
  lock: 7_365_776_143,
  migrations: [
    {
      name: 'wallets, coins by the row of their transaction',
      statements: (kind) =>
        kind === 'sqlite'
          ? [...tableStatements(SQLITE_TYPES), ...sqliteTriggers(), ...sqliteStatistics()]
          : [...tableStatements(POSTGRES_TYPES), ...postgresTriggers()],
    },
    {
      name: 'events are forgotten',
      statements: (kind) => {
        const { integer } = kind === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
        const range = 'CHECK (trimmed_sequence >= 0 AND trimmed_sequence <= last_sequence)';
        return [`ALTER TABLE event_counter ADD COLUMN trimmed_sequence ${integer} NOT NULL DEFAULT 0 CONSTRAINT trimmed_range ${range}`];
      },
    },
    {
      name: 'what an address was given out for',
      statements: (kind) => {
        const { integer, table } = kind === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES;
        return [
          `CREATE TABLE given_addresses (
            address_id ${integer} PRIMARY KEY,
            wallet_id ${integer} NOT NULL,
            is_change ${integer} NOT NULL CONSTRAINT given_change_flag CHECK (is_change IN (0, 1)),
            CONSTRAINT given_address FOREIGN KEY (wallet_id, address_id) REFERENCES addresses (wallet_id, id) ON DELETE CASCADE
          )${table}`,
        ];
      },
    },
    { name: 'labels of whatever has one', statements: (kind) => labelStatements(kind === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES) },
  ],
};
