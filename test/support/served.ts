/**
 * A server over a devnet store, without a socket: blocks are applied and rolled
 * back by the test, requests are injected, and every answer is held against the
 * OpenAPI document the server itself gives out. What cannot be right whatever
 * the question is checked here, once; the rest is for the test that asks.
 */
import assert from 'node:assert/strict';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Network } from '../../src/families/family.ts';
import { openNetwork } from '../../src/families/networks.ts';
import { buildApp } from '../../src/server/app.ts';
import type { ServerContext } from '../../src/server/context.ts';
import { Workload } from '../../src/server/http/work/workload.ts';
import { EngineReads } from '../../src/server/reads.ts';
import { type LiveStatus, type LiveTiming, NOT_FOLLOWING } from '../../src/server/thread/live.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { CopyMirror, isMirrored, type MakeCopy } from './copy/mirror.ts';
import { Devnet, devnetOptions, diskRig, type Flavour, memoryRig, type Rig, type RigOptions } from './harness.ts';
import { OpenApiCheck } from './openapi-check.ts';

export interface ServedOptions {
  readonly seed?: number;
  readonly flavour?: Flavour;
  /** Default: memory. */
  readonly engine?: 'memory' | 'rocks' | 'sqlite';
  /** Blocks there are at the start. Default: 40. */
  readonly blocks?: number;
  /** What the store keeps; default: everything. */
  readonly store?: RigOptions;
  readonly server?: Partial<Config['server']>;
  /** Whether a reader of a copy is asked the same. Default: where UNSPENT_TEST_MIRROR is set. */
  readonly mirrored?: boolean | MakeCopy;
}

/** An answer that was checked already. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The block it is at; null: it names none. */
  readonly point: { readonly height: number; readonly slot: number; readonly hash: string } | null;
  json<T>(): T;
}

export class Served {
  readonly rig: Rig;
  readonly reads: EngineReads;
  readonly context: ServerContext;
  readonly app: FastifyInstance;
  /** Lines of the server's log. A test that expects none of its own need not look: `close` does. */
  readonly logged: string[];
  private readonly live: { status: LiveStatus; readonly listeners: Set<(timings: readonly LiveTiming[]) => void> };
  private readonly check: OpenApiCheck;

  /** A reader of a published copy that is asked the same; null: none. */
  readonly mirror: CopyMirror | null;

  private constructor(parts: Pick<Served, 'rig' | 'reads' | 'context' | 'app' | 'mirror'>, live: Served['live'], logged: string[]) {
    ({ rig: this.rig, reads: this.reads, context: this.context, app: this.app, mirror: this.mirror } = parts);
    this.live = live;
    this.logged = logged;
    this.check = new OpenApiCheck(this.app.swagger() as unknown as ConstructorParameters<typeof OpenApiCheck>[0]);
  }

  static async open(options: ServedOptions = {}): Promise<Served> {
    const devnet = new Devnet(devnetOptions(options.seed ?? 1, options.flavour ?? 'conway'), { dressed: true });
    const { engine = 'memory', store } = options;
    const rig = engine === 'memory' ? memoryRig(devnet, store) : await diskRig(engine, devnet, store);
    rig.forward(options.blocks ?? 40, [7]);
    const network = networkOf(devnet);
    const reads = new EngineReads(rig.engine, network.ledger);
    const live: Served['live'] = { status: NOT_FOLLOWING, listeners: new Set() };
    const context = contextOf(rig, network, reads, live, configWith(options));
    const logged: string[] = [];
    const app = await buildApp(context, { log: (line) => logged.push(line) });
    const { mirrored = isMirrored } = options;
    const makeCopy = typeof mirrored === 'function' ? mirrored : undefined;
    const mirror = mirrored === false ? null : await CopyMirror.open(rig.engine, context, (line) => logged.push(line), makeCopy);
    return new Served({ rig, reads, context, app, mirror }, live, logged);
  }

  get devnet(): Devnet {
    return this.rig.devnet;
  }

  /** Mines blocks and applies them; readers see them from here on. */
  forward(count: number, sizes?: readonly number[]): void {
    this.rig.forward(count, sizes);
    this.reads.moved();
  }

  /** Takes that many blocks back, in the store and in the devnet. */
  back(depth: number): void {
    this.rig.fold.rollback(this.devnet.pointBelow(depth));
    this.devnet.chain.rollback(depth);
    this.reads.moved();
  }

  /** Forgets all that is outside the windows of the store. */
  prune(): void {
    const { engine, projections, options, fold } = this.rig;
    while (!pruneStep(engine, projections, fold.head?.height ?? 0, options, 100).done);
    this.reads.moved();
  }

  /** What the following side says from here on. */
  say(status: Partial<LiveStatus>): void {
    this.live.status = { ...this.live.status, ...status };
  }

  /** Says what took time, as the following side does. */
  tell(timings: readonly LiveTiming[]): void {
    for (const listener of this.live.listeners) listener(timings);
  }

  /** On a real socket; a test that fails does not hang on it. */
  async listen(host = '127.0.0.1'): Promise<{ readonly origin: string; readonly port: number }> {
    const origin = await this.app.listen({ host, port: 0 });
    this.app.server.unref();
    return { origin, port: Number(new URL(origin).port) };
  }

  /** `path` below /api/v1, or from the root when it begins with `//`. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask({ method: 'GET', url: urlOf(path), headers });
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    return this.ask({ method: 'POST', url: urlOf(path), payload, headers: { 'content-type': 'application/json', ...headers } });
  }

  async ask(options: InjectOptions): Promise<Answer> {
    const asked = { ...options, headers: { host: 'localhost', ...options.headers } };
    const moves = this.mirror?.moves ?? 0;
    const response = await this.app.inject(asked);
    await this.mirror?.compare(asked, response, moves);
    const headers = response.headers as Answer['headers'];
    const answer = {
      status: response.statusCode,
      headers,
      text: response.payload,
      bytes: new Uint8Array(response.rawPayload),
      point: pointOf(headers),
      json: <T>() => JSON.parse(response.payload) as T,
    };
    this.check.answer(String(options.method), String(options.url), answer);
    return answer;
  }

  /** Fails when a snapshot or a stream is still held, or something was logged. */
  async close(): Promise<void> {
    await this.mirror?.close();
    await this.app.close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease was released');
    await this.rig.close();
    assert.deepEqual(this.logged, [], 'the server had nothing to log');
  }
}

function urlOf(path: string): string {
  return path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
}

function networkOf({ chain }: Devnet): Network {
  return openNetwork('devnet', { byron: chain.genesisByron, shelley: chain.genesisShelley });
}

/** The settings a server has by default, with those of the test, and of its store. */
function configWith({ server, store = {} }: ServedOptions): Config {
  const { config } = loadConfig({});
  const { pruneDepth = 2160, rollbackWindow = 4320 } = store;
  // What counts as slow here is the machine's affair: no test may see a line of it by accident.
  const log = { ...config.log, slowRequestMs: 0 };
  return { ...config, log, server: { ...config.server, ...server }, utxo: { ...config.utxo, pruneDepth, rollbackWindow } };
}

function contextOf(rig: Rig, network: Network, reads: EngineReads, live: Served['live'], config: Config): ServerContext {
  return {
    network,
    config,
    projections: rig.projections.map((projection) => projection.name),
    reads,
    live: {
      get status() {
        return live.status;
      },
      onTimings(listener) {
        live.listeners.add(listener);
        return () => live.listeners.delete(listener);
      },
    },
    workload: new Workload(),
    mempool: null,
    submit: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
    ledger: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
  };
}

function pointOf(headers: Answer['headers']): Answer['point'] {
  const hash = headers['x-block-hash'];
  if (hash === undefined) return null;
  return { height: Number(headers['x-block-height']), slot: Number(headers['x-block-slot']), hash };
}

/** The answer is this problem. */
export function assertProblem(answer: Answer, code: string, status: number, field?: string): void {
  const problem = answer.json<Record<string, unknown>>();
  assert.deepEqual([answer.status, problem['code'], problem['status']], [status, code, status], answer.text);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(problem['type'], `/docs/api#error-${code}`);
  if (field !== undefined) assert.equal(problem['field'], field, answer.text);
}
