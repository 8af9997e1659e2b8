/** What the tests of wallets on SQL need of a kind of database: new ones, by their URLs. */
export interface TestDatabases {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** An empty wallet database. */
  freshUrl(): Promise<string>;
  /** A database without a schema. */
  unusedUrl(): Promise<string>;
}
