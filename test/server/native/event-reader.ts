/**
 * A server of events over a rig, and a reader of them: one that only believes
 * what it is told. It keeps the unspent outputs it was told of, undoes strictly
 * in reverse, and forgets what it is told was rolled back while it was away.
 */
import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { openNetwork } from '../../../src/families/networks.ts';
import type { ServerContext } from '../../../src/server/context.ts';
import { handleErrors } from '../../../src/server/http/problem.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { type EventOptions, registerEvents } from '../../../src/server/native/events/route.ts';
import { EngineReads } from '../../../src/server/reads.ts';
import { LiveReceiver } from '../../../src/server/thread/live-receiver.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import type { Rig } from '../../support/harness.ts';
import { until } from '../../support/patience.ts';

export function contextOf(rig: Rig, reads: EngineReads, server: Partial<Config['server']> = {}): ServerContext {
  const { config } = loadConfig({});
  const { genesisByron, genesisShelley } = rig.devnet.chain;
  return {
    network: openNetwork('devnet', { byron: genesisByron, shelley: genesisShelley }),
    config: { ...config, utxo: { ...config.utxo, ...windowsOf(rig) }, server: { ...config.server, ...server } },
    projections: rig.projections.map((projection) => projection.name),
    reads,
    live: new LiveReceiver(),
    workload: new Workload(),
    mempool: null,
    submit: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
    ledger: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
  };
}

function windowsOf({ options }: Rig): Pick<Config['utxo'], 'pruneDepth' | 'rollbackWindow'> {
  return { pruneDepth: options.pruneDepth, rollbackWindow: options.rollbackWindow };
}

export class EventServer {
  readonly rig: Rig;
  readonly reads: EngineReads;
  readonly context: ServerContext;
  readonly failures: Error[] = [];
  private readonly app: FastifyInstance;
  private port = 0;

  constructor(rig: Rig, options: Partial<EventOptions> = {}, server: Partial<Config['server']> = {}) {
    this.rig = rig;
    this.reads = new EngineReads(rig.engine, rig.devnet.ledger);
    this.context = contextOf(rig, this.reads, server);
    const moved = (): void => this.reads.moved();
    rig.fold.watchers.add({ applied: moved, rolledBack: moved, pruned: moved });
    this.app = fastify({ forceCloseConnections: true, ajv: { customOptions: { removeAdditional: false } } }) as unknown as FastifyInstance;
    // As the server does: the schemas of answers are for the reference.
    this.app.setSerializerCompiler(() => (document) => JSON.stringify(document));
    handleErrors(this.app, { onFailure: (error) => this.failures.push(error) });
    registerEvents(this.app, this.context, { onFailure: (error) => this.failures.push(error), ...options });
  }

  async start(): Promise<this> {
    await this.app.listen({ port: 0, host: '127.0.0.1' });
    this.port = (this.app.server.address() as AddressInfo).port;
    return this;
  }

  url(query = ''): string {
    return `http://127.0.0.1:${this.port}/api/v1/events${query}`;
  }

  /** A fork: so many blocks are undone, others take their place. */
  fork(depth: number, blocks: number): void {
    const { devnet, fold } = this.rig;
    const most = Math.min(depth, devnet.chain.blocks.length);
    fold.rollback(devnet.pointBelow(most));
    devnet.chain.rollback(most);
    this.rig.forward(blocks, [1, 3, 2]);
  }

  /** Ends the server; nothing may still be held. */
  async stop(): Promise<void> {
    await this.app.close();
    await until(
      () => this.reads.snapshots <= 1,
      () => `${this.reads.snapshots} snapshots are still held`,
    );
    this.reads.close();
    assert.equal(this.reads.snapshots, 0);
    assert.deepEqual(this.failures, []);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.rig.close();
  }
}

export interface Told {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a document as it came over the wire
  readonly data: any;
}

/** One connection: what it said, as the standard reads it. */
export class Connection {
  readonly told: Told[] = [];
  readonly comments: string[] = [];
  lastId = '';
  ended = false;
  broken = false;
  private readonly response: IncomingMessage;
  private rest = '';

  constructor(response: IncomingMessage, onEvent: (told: Told) => void) {
    this.response = response;
    response.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (this.rest + text).split('\n\n');
      this.rest = blocks.pop()!;
      for (const block of blocks) this.take(block, onEvent);
    });
    response.on('end', () => {
      this.ended = true;
    });
    response.on('error', () => {
      this.broken = true;
    });
    response.on('close', () => {
      this.broken ||= !this.ended;
    });
  }

  static async open(url: string, lastId: string, onEvent: (told: Told) => void = () => {}): Promise<Connection> {
    const headers = lastId === '' ? {} : { 'last-event-id': lastId };
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      get(url, { headers, agent: false }, resolve).on('error', reject),
    );
    assert.equal(response.statusCode, 200);
    assert.match(response.headers['content-type'] ?? '', /^text\/event-stream/);
    return new Connection(response, onEvent);
  }

  private take(block: string, onEvent: (told: Told) => void): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
    }
    this.lastId = fields.get('id') ?? this.lastId;
    const data = fields.get('data');
    if (data === undefined) return;
    const told = { id: this.lastId, event: fields.get('event') ?? 'message', data: JSON.parse(data) as unknown };
    this.told.push(told);
    onEvent(told);
  }

  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  /** What was on its way is not seen any more. */
  hangUp(): void {
    this.response.removeAllListeners('data');
    this.response.destroy();
  }

  names(): string[] {
    return this.told.map(({ event }) => event);
  }
}

interface Change {
  readonly kind: 'created' | 'spent';
  readonly key: string;
  readonly lovelace: string;
  readonly height: number;
}

/** Follows events and adds them up. */
export class Reader {
  readonly utxos = new Map<string, string>();
  /** Hashes of the blocks it is told of, oldest first, since it began. */
  readonly chain: { readonly hash: string; readonly height: number }[] = [];
  readonly counts: Record<string, number> = {};
  /** The newest tip it was told; null: the origin, or none yet. */
  tip: string | null | undefined;
  lastId = '';
  private failure: unknown = null;
  private readonly journal: Change[] = [];
  private readonly server: EventServer;
  private readonly query: string;
  private connection: Connection | null = null;

  constructor(server: EventServer, query: string) {
    this.server = server;
    this.query = query;
  }

  get isConnected(): boolean {
    return this.connection !== null;
  }

  async connect(): Promise<void> {
    assert.equal(this.connection, null);
    this.tip = undefined;
    this.connection = await Connection.open(this.server.url(this.query), this.lastId, (told) => {
      try {
        if (this.failure === null) this.take(told);
      } catch (error) {
        this.failure = error;
      }
    });
    // It began at a point only once it was told which.
    await until(() => this.lastId !== '', 'the first event');
  }

  hangUp(): void {
    if (this.connection === null) return;
    this.connection.hangUp();
    // A sign of life may have moved it on since the last event.
    if (this.connection.lastId !== '') this.lastId = this.connection.lastId;
    this.connection = null;
  }

  /** Until it is told that this is the tip. */
  async reach(hash: Uint8Array | null): Promise<void> {
    const wanted = hash === null ? null : toHex(hash);
    await until(
      () => this.tip === wanted || this.failure !== null,
      () => `the tip is ${wanted}, the reader is at ${this.tip}; ${JSON.stringify(this.counts)}`,
    );
    if (this.failure !== null) throw this.failure;
    assert.ok(this.connection !== null && !this.connection.broken && !this.connection.ended);
  }

  private take({ id, event, data }: Told): void {
    this.lastId = id;
    this.counts[event] = (this.counts[event] ?? 0) + 1;
    if (event === 'tip') this.tip = data.point?.hash ?? null;
    else if (event === 'block') this.block(data);
    else if (event === 'undo') this.undo(data);
    else if (event === 'rollback') this.rollback(data);
    else if (event === 'created' || event === 'spent') this.forward(event, data);
    else if (event === 'unspent' || event === 'uncreated') this.back(event, data);
    else assert.equal(event, 'begin', JSON.stringify(data));
  }

  private block({ hash, height, previous_hash }: { hash: string; height: number; previous_hash: string }): void {
    const last = this.chain.at(-1);
    if (last !== undefined) assert.equal(previous_hash, last.hash, 'a block follows the one before it');
    this.chain.push({ hash, height });
  }

  private undo({ hash }: { hash: string }): void {
    assert.equal(this.chain.pop()?.hash, hash, 'blocks are undone newest first');
  }

  private rollback({ to, resumed }: { to: { height: number; hash: string } | null; resumed: boolean }): void {
    const height = to?.height ?? -1;
    if (resumed) {
      while (this.journal.length > 0 && this.journal.at(-1)!.height > height) this.revert();
      // By hash: a boundary block has the height of the one before it.
      while (this.chain.length > 0 && this.chain.at(-1)!.hash !== to?.hash) this.chain.pop();
    }
    assert.ok((this.journal.at(-1)?.height ?? -1) <= height, 'everything above was undone before');
    const last = this.chain.at(-1);
    if (last !== undefined && to !== null) assert.equal(last.hash, to.hash, 'back at that block');
  }

  private forward(kind: 'created' | 'spent', data: Readonly<Record<string, string & number>>): void {
    const key = keyOf(data);
    const lovelace = data['lovelace_amount'];
    const height = kind === 'created' ? data['block'] : data['spent_at_block'];
    assert.equal(this.utxos.has(key), kind === 'spent', `${key} is ${kind}`);
    assert.equal('spent_at_block' in data, kind === 'spent');
    this.journal.push({ kind, key, lovelace, height });
    if (kind === 'created') this.utxos.set(key, lovelace);
    else this.utxos.delete(key);
  }

  private back(kind: 'unspent' | 'uncreated', data: Readonly<Record<string, string & number>>): void {
    const last = this.journal.at(-1);
    assert.deepEqual([last?.key, last?.kind], [keyOf(data), kind === 'unspent' ? 'spent' : 'created'], 'undone strictly in reverse');
    this.revert();
  }

  private revert(): void {
    const { kind, key, lovelace } = this.journal.pop()!;
    if (kind === 'created') assert.ok(this.utxos.delete(key));
    else this.utxos.set(key, lovelace);
  }
}

function keyOf(data: Readonly<Record<string, unknown>>): string {
  return `${data['tx_hash']}#${data['output_index']}`;
}
