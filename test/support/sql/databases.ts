/** What the tests of a store on SQL need of a kind of database: new ones, by their URLs. */
export interface TestDatabases {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** An empty database with the schema of the store. */
  freshUrl(): Promise<string>;
  /** A database without a schema. */
  unusedUrl(): Promise<string>;
}

/** Opens the store of a URL once, and closes it: its database has the schema then. */
export type MakeSchema = (url: string) => Promise<void>;
