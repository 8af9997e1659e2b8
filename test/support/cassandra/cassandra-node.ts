/**
 * Nodes of Apache Cassandra for tests, on addresses of the loopback. Their jars
 * come through Maven, once, into a folder of the user's cache; where Java 17 or
 * Maven are absent, what needs a node is skipped.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { until } from '../patience.ts';
import { JAVA_MODULES, LOGGING, type NodePlace, nodeSettings } from './cassandra-settings.ts';

const VERSION = '5.0.9';
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'unspent-tests', `cassandra-${VERSION}`);

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>unspent</groupId><artifactId>cassandra</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>${VERSION}</version>
</dependency></dependencies></project>`;

const JARS = join(CACHE, 'lib');

/** Why there can be no node; false: there can be one. */
export const withoutCassandra: string | false = whyNot();

function whyNot(): string | false {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const java = /version "([0-9]+)/.exec(stderr ?? '')?.[1];
  if (java !== '17') return `Cassandra needs Java 17, and here is ${java === undefined ? 'none' : `Java ${java}`}`;
  return existsSync(JARS) || getJars() ? false : `Maven cannot get Cassandra ${VERSION}`;
}

function getJars(): boolean {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'getting-'));
  try {
    writeFileSync(join(folder, 'pom.xml'), POM);
    const wanted = ['dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`, '-DincludeScope=runtime'];
    if (spawnSync('mvn', ['-q', '-B', ...wanted], { cwd: folder }).status !== 0) return false;
    // Another process may have been first.
    if (!existsSync(JARS)) renameSync(join(folder, 'lib'), JARS);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export class CassandraNode {
  readonly place: NodePlace;
  private readonly folder: string;
  private process: ChildProcess | null = null;
  private ended: Promise<void> = Promise.resolve();

  private constructor(place: NodePlace, folder: string) {
    this.place = place;
    this.folder = folder;
  }

  /** One alone. */
  static async start(): Promise<CassandraNode> {
    const [node] = await CassandraNode.startAll(1);
    return node;
  }

  /** A ring of so many, on 127.0.0.1 and those after it; each is up. */
  static async startAll(count: number): Promise<CassandraNode[]> {
    const [cqlPort, storagePort, tlsPort] = [await freePort(), await freePort(), await freePort()];
    const addresses = Array.from({ length: count }, (_, i) => `127.0.0.${i + 1}`);
    const nodes = addresses.map((address) => {
      const folder = mkdtempSync(join(tmpdir(), 'unspent-cassandra-'));
      return new CassandraNode({ address, cqlPort, storagePort, tlsPort, folder, seeds: addresses }, folder);
    });
    for (const node of nodes) await node.run();
    return nodes;
  }

  get host(): string {
    return `${this.place.address}:${this.place.cqlPort}`;
  }

  /** Of this node's process, so far, in seconds. */
  get processorSeconds(): number {
    const [, fields] = readFileSync(`/proc/${this.process?.pid}/stat`, 'utf8').split(') ');
    const values = fields.split(' ');
    return (Number(values[11]) + Number(values[12])) / 100;
  }

  /** Starts it and waits until it takes clients. */
  async run(): Promise<void> {
    const write = (name: string, text: string): string => {
      writeFileSync(join(this.folder, name), text);
      return `file://${join(this.folder, name)}`;
    };
    const options = [
      ...JAVA_MODULES,
      `-Dcassandra.config=${write('cassandra.yaml', nodeSettings(this.place))}`,
      `-Dlogback.configurationFile=${write('logback.xml', LOGGING)}`,
      `-Dcassandra.storagedir=${this.folder}`,
    ];
    const log = join(this.folder, 'log');
    const output = openSync(log, 'w');
    const java = ['-cp', join(JARS, '*'), ...options, 'org.apache.cassandra.service.CassandraDaemon'];
    const started = spawn('java', java, { stdio: ['ignore', output, output], cwd: this.folder });
    this.process = started;
    let isOver = false;
    this.ended = new Promise((resolve) => {
      started.once('exit', () => {
        isOver = true;
        resolve();
      });
    });
    await until(
      () => isOver || readFileSync(log, 'utf8').includes('Starting listening for CQL clients'),
      () => readFileSync(log, 'utf8').slice(-4000),
    );
    assert.ok(!isOver, readFileSync(log, 'utf8').slice(-4000));
  }

  /** As a power failure ends it. */
  async kill(): Promise<void> {
    this.process?.kill('SIGKILL');
    await this.ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
