/**
 * A primary and its synchronous standby: what the primary has acknowledged, the
 * standby has on its disk. A failover is what an operator's tool does: the
 * primary is killed, the standby promoted. Both names stand in the URL.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../patience.ts';
import type { MakeSchema, TestDatabases } from './databases.ts';
import { PostgresServer } from './postgres-server.ts';

/** Enough log is kept for a standby that comes a little later. */
const REPLICATED = { wal_level: 'replica', wal_keep_size: '64MB', wal_receiver_status_interval: '1s' };
const STANDBY = 'second';

export class PostgresPair implements TestDatabases {
  readonly name = 'PostgreSQL';
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly #folder: string;

  private constructor(primary: PostgresServer, standby: PostgresServer, folder: string) {
    this.primary = primary;
    this.standby = standby;
    this.#folder = folder;
  }

  /** Their databases have that schema. */
  static async start(makeSchema: MakeSchema): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-pair-'));
    const [first, second] = ['first', STANDBY].map((name) => join(folder, name));
    if (process.getuid?.() === 0) chownSync(folder, 65_534, 65_534);
    // A standby begins with a copy of a primary that does not run.
    await (await PostgresServer.start(makeSchema, REPLICATED, first)).stop();
    execFileSync('cp', ['-a', first, second]);
    const signal = join(second, 'standby.signal');
    writeFileSync(signal, '');
    const { uid, gid } = statSync(second);
    chownSync(signal, uid, gid);
    const primary = await PostgresServer.start(makeSchema, { ...REPLICATED, synchronous_standby_names: STANDBY }, first);
    const from = `host=${socketOf(primary)} user=postgres application_name=${STANDBY}`;
    const standby = await PostgresServer.start(makeSchema, { ...REPLICATED, primary_conninfo: from }, second);
    await until(
      async () => (await primary.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0,
      'the standby follows',
    );
    return new PostgresPair(primary, standby, folder);
  }

  /** `url` of the primary, with both servers in it. */
  urlOf(url: string): string {
    const both = new URL(url);
    both.searchParams.set('host', `${socketOf(this.primary)},${socketOf(this.standby)}`);
    return both.href;
  }

  async unusedUrl(): Promise<string> {
    return this.urlOf(await this.primary.unusedUrl());
  }

  async freshUrl(): Promise<string> {
    return this.urlOf(await this.primary.freshUrl());
  }

  /** The same database on the server that has been promoted alone. */
  afterwards(url: string): string {
    return this.standby.urlOf(new URL(url).pathname.slice(1));
  }

  /** The primary is killed as a crash kills it, and the standby takes its place. Milliseconds until that takes writes. */
  async failOver(): Promise<number> {
    const started = performance.now();
    await this.primary.kill();
    await this.standby.execute('SELECT pg_promote()');
    await until(async () => {
      const [row] = await this.standby.execute('SELECT pg_is_in_recovery() AS standby');
      return row['standby'] === false;
    }, 'the standby was promoted');
    return performance.now() - started;
  }

  async stop(): Promise<void> {
    await this.standby.stop();
    await this.primary.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The folder of its socket. */
function socketOf(server: PostgresServer): string {
  return new URL(server.urlOf('postgres')).searchParams.get('host') ?? '';
}
