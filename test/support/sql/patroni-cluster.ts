/**
 * Three servers of PostgreSQL that Patroni looks after, with three of etcd to
 * agree by: whose lead it is, is theirs to say, not the test's. Patroni comes
 * from PyPI, once, into a folder of the user's cache; etcd and PostgreSQL are
 * the system's (Debian: etcd-server, postgresql). Where one of them is absent,
 * what needs a cluster is skipped.
 */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { until } from '../patience.ts';
import type { MakeSchema, TestDatabases } from './databases.ts';
import { executeIn } from './execute.ts';
import { KeptProcess, killTree, NOBODY } from './kept-process.ts';
import { type PatroniPlace, patroniSettings } from './patroni-settings.ts';

const VERSION = '4.1.5';
const PACKAGES = [`patroni[etcd3]==${VERSION}`, 'psycopg[binary]'];
/** Nobody, who runs the servers where root runs the tests, may not look into root's home, nor run a Python that is there. */
const SYSTEM_PYTHON = '/usr/bin/python3';
const CACHES = process.getuid?.() === 0 ? '/var/cache' : (process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'));
const PYTHON = join(CACHES, 'unspent-tests', `patroni-${VERSION}`);
const NODES = 3;

/** How the leader is lost: its server is killed, or that and the Patroni beside it, or it is told to hand over. */
export const LOSSES = ['server', 'node', 'switchover'] as const;
export type Loss = (typeof LOSSES)[number];

/** Why there can be no cluster; false: there can be one. */
export function withoutPatroni(): string | false {
  if (programsFolder() === undefined) return 'there is no PostgreSQL in /usr/lib/postgresql';
  if (spawnSync('etcd', ['--version']).status !== 0) return 'there is no etcd';
  return existsSync(PYTHON) || getPatroni() ? false : `pip cannot get Patroni ${VERSION}`;
}

function programsFolder(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'pg_basebackup')));
}

function getPatroni(): boolean {
  mkdirSync(join(PYTHON, '..'), { recursive: true });
  const folder = mkdtempSync(`${PYTHON}-`);
  const run = (program: string, args: readonly string[]): boolean => spawnSync(program, args).status === 0;
  const isThere = run(SYSTEM_PYTHON, ['-m', 'venv', folder]) && run(join(folder, 'bin/pip'), ['install', '-q', ...PACKAGES]);
  // Its programs name the folder they were made in, so they are run through python; nobody may look into what mkdtemp made.
  if (isThere && run('chmod', ['-R', 'a+rX', folder]) && !existsSync(PYTHON)) renameSync(folder, PYTHON);
  rmSync(folder, { recursive: true, force: true });
  return existsSync(PYTHON);
}

export class PatroniCluster implements TestDatabases {
  readonly name = 'PostgreSQL';
  readonly #folder: string;
  readonly #etcd: readonly KeptProcess[];
  readonly #nodes: readonly PatroniNode[];
  readonly #makeSchema: MakeSchema;
  #count = 0;

  private constructor(folder: string, etcd: readonly KeptProcess[], nodes: readonly PatroniNode[], makeSchema: MakeSchema) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.#nodes = nodes;
    this.#makeSchema = makeSchema;
  }

  /** `freshUrl` gives databases of that schema. The cluster is whole: a leader, a synchronous standby, and another one. */
  static async start(makeSchema: MakeSchema): Promise<PatroniCluster> {
    const folder = ownedFolder(mkdtempSync(join(tmpdir(), 'unspent-patroni-')));
    const ports = async (): Promise<number[]> => {
      const found: number[] = [];
      while (found.length < NODES) found.push(await freePort());
      return found;
    };
    const [etcdPorts, peerPorts] = [await ports(), await ports()];
    const etcd = etcdPorts.map((_, n) => runEtcd(folder, n, etcdPorts, peerPorts));
    const programs = programsFolder() ?? '';
    const nodes: PatroniNode[] = [];
    for (let n = 0; n < NODES; n++) {
      const own = ownedFolder(join(folder, `node${n}`));
      const [postgresPort, restPort] = [await freePort(), await freePort()];
      nodes.push(new PatroniNode({ name: `node${n}`, folder: own, postgresPort, restPort, etcdPorts, programs }));
    }
    const cluster = new PatroniCluster(folder, etcd, nodes, makeSchema);
    try {
      for (const node of nodes) node.run();
      await cluster.#isWhole();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** All servers stand in it; who leads is found by asking them. */
  urlOf(database: string): string {
    return `postgres://postgres@${this.#nodes.map(({ place }) => `127.0.0.1:${place.postgresPort}`).join(',')}/${database}`;
  }

  async #executeAtLeader(statement: string): Promise<void> {
    const leader = await this.#leader();
    await executeIn(leader.urlOf('postgres'), statement);
  }

  async unusedUrl(): Promise<string> {
    const name = `unused_${++this.#count}`;
    await this.#executeAtLeader(`CREATE DATABASE ${name}`);
    return this.urlOf(name);
  }

  async freshUrl(): Promise<string> {
    const url = await this.unusedUrl();
    await this.#makeSchema(url);
    return url;
  }

  /** The same database at the one server that leads now. */
  async afterwards(url: string): Promise<string> {
    return (await this.#leader()).urlOf(new URL(url.replace(/,[^/]*/, '')).pathname.slice(1));
  }

  /** The leader is lost in that way. Milliseconds until another one takes writes. */
  async failOver(loss: Loss): Promise<number> {
    const leader = await this.#leader();
    const started = performance.now();
    if (loss === 'switchover') await leader.handOver();
    else await leader.lose(loss);
    await until(async () => (await this.#leading()).some((node) => node !== leader), `another node leads (${loss})`);
    return performance.now() - started;
  }

  /** What was lost runs again, and the cluster is whole. */
  async mend(): Promise<void> {
    for (const node of this.#nodes) if (!node.isRunning) node.run();
    await this.#isWhole();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await Promise.all(this.#etcd.map((process) => process.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #leader(): Promise<PatroniNode> {
    let found: PatroniNode | undefined;
    await until(async () => {
      [found] = await this.#leading();
      return found !== undefined;
    }, 'a node leads');
    if (found === undefined) throw new Error('a node leads');
    return found;
  }

  async #leading(): Promise<readonly PatroniNode[]> {
    const leads = await Promise.all(this.#nodes.map((node) => node.leads()));
    return this.#nodes.filter((_, n) => leads[n]);
  }

  async #isWhole(): Promise<void> {
    const wanted = { sync: 1, async: NODES - 2 };
    await until(
      async () => {
        const ended = this.#nodes.find((node) => !node.isRunning);
        if (ended !== undefined) throw new Error(`Patroni has ended: ${ended.said}`);
        const [leader] = await this.#leading();
        if (leader === undefined) return false;
        const states = (await leader.replicas()).map((state) => (state === 'quorum' ? 'sync' : state));
        return Object.entries(wanted).every(([state, count]) => states.filter((each) => each === state).length === count);
      },
      () => `a cluster with a leader and its standbys\n${this.#nodes.map((node) => node.said).join('\n')}`,
    );
  }
}

function ownedFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
  return folder;
}

function runEtcd(folder: string, n: number, clientPorts: readonly number[], peerPorts: readonly number[]): KeptProcess {
  const [client, peer] = [`http://127.0.0.1:${clientPorts[n]}`, `http://127.0.0.1:${peerPorts[n]}`];
  const members = peerPorts.map((port, k) => `etcd${k}=http://127.0.0.1:${port}`).join(',');
  const data = ownedFolder(join(folder, `etcd${n}`));
  return KeptProcess.run('etcd', [
    ...['--name', `etcd${n}`, '--data-dir', data, '--initial-cluster', members, '--initial-cluster-state', 'new'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer],
    ...['--initial-advertise-peer-urls', peer, '--log-level', 'error', '--unsafe-no-fsync'],
  ]);
}

/** One server of PostgreSQL with the Patroni that looks after it. */
class PatroniNode {
  readonly place: PatroniPlace;
  #process: KeptProcess | undefined;

  constructor(place: PatroniPlace) {
    this.place = place;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning === true;
  }

  /** The last of what it logged. */
  get said(): string {
    return `${this.place.name}: ${this.#process?.said ?? ''}`;
  }

  run(): void {
    const settings = join(this.place.folder, 'patroni.yml');
    writeFileSync(settings, patroniSettings(this.place));
    this.#process = KeptProcess.run(join(PYTHON, 'bin/python'), ['-m', 'patroni', settings], this.place.folder);
  }

  urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.place.postgresPort}/${database}`;
  }

  /** Whether Patroni says that it leads, and its server takes writes. */
  async leads(): Promise<boolean> {
    try {
      if ((await fetch(`http://127.0.0.1:${this.place.restPort}/primary`)).status !== 200) return false;
      const [row] = await executeIn(this.urlOf('postgres'), 'SELECT pg_is_in_recovery() AS standby');
      return row['standby'] === false;
    } catch {
      return false;
    }
  }

  async replicas(): Promise<readonly string[]> {
    const rows = await executeIn(this.urlOf('postgres'), "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'");
    return rows.map((row) => String(row['sync_state']));
  }

  async handOver(): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.place.restPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: this.place.name }),
    });
    if (answer.status !== 200) throw new Error(`${this.place.name} does not hand over: ${await answer.text()}`);
  }

  /** Its server is killed with all processes that serve connections; of a node, Patroni first. */
  async lose(loss: 'server' | 'node'): Promise<void> {
    const main = Number(readFileSync(join(this.place.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
    if (loss === 'node') await this.#process?.kill();
    killTree(main);
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
