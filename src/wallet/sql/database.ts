/** The database of wallets: that of sql/, with the tables of wallets. */
import type { DatabaseTransaction, SqlDatabase } from '../../sql/database.ts';
import type { WalletTables } from './tables.ts';

export type WalletDatabase = SqlDatabase<WalletTables>;
export type SqlTransaction = DatabaseTransaction<WalletTables>;
