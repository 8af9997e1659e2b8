/**
 * A server over a store that keeps cages and the tree over the unspent set, on a
 * chain made by chance, without a socket. Answers are held against the OpenAPI
 * document.
 */
import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import { loadConfig } from '../../src/config/load.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openNetwork } from '../../src/families/networks.ts';
import type { Block } from '../../src/ledgers/ledger.ts';
import { csmtProjection } from '../../src/projections/csmt/csmt.ts';
import { buildApp } from '../../src/server/app.ts';
import type { ServerContext } from '../../src/server/context.ts';
import { Workload } from '../../src/server/http/work/workload.ts';
import { EngineReads } from '../../src/server/reads.ts';
import { type LiveStatus, NOT_FOLLOWING } from '../../src/server/thread/live.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold } from '../../src/state/fold.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { cageLedger } from './cage-blocks.ts';
import { cageProjections, WINDOW } from './cage-rig.ts';
import { WORLD_CAGES } from './cage-world.ts';
import { CopyMirror, isMirrored } from './copy/mirror.ts';
import { OpenApiCheck } from './openapi-check.ts';

export interface CageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  json<T = Record<string, unknown>>(): T;
}

export class CageServed {
  readonly engine: Engine;
  readonly fold: Fold;
  readonly app: FastifyInstance;
  readonly reads: EngineReads;
  /** Transactions that were handed to the node. */
  readonly submitted: Uint8Array[];
  /** A reader of a published copy that is asked the same; null: none. */
  readonly mirror: CopyMirror | null;
  private readonly logged: readonly string[];
  private readonly check: OpenApiCheck;

  private constructor(parts: Pick<CageServed, 'engine' | 'fold' | 'app' | 'reads' | 'submitted' | 'mirror'>, logged: readonly string[]) {
    ({ engine: this.engine, fold: this.fold, app: this.app, reads: this.reads, submitted: this.submitted, mirror: this.mirror } = parts);
    this.logged = logged;
    this.check = new OpenApiCheck(this.app.swagger() as unknown as ConstructorParameters<typeof OpenApiCheck>[0]);
  }

  static async open(options: { readonly csmt?: boolean } = {}): Promise<CageServed> {
    const { csmt = true } = options;
    const projections = [...cageProjections(WORLD_CAGES), ...(csmt ? [csmtProjection(cageLedger.leaf!)] : [])];
    const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
    // The chain begins with outputs that no block made.
    const fold = new Fold(engine, cageLedger, projections, { utxo: true, partial: true, selfContained: false, fsync: false, ...WINDOW });
    const network = openNetwork('devnet', null);
    const reads = new EngineReads(engine, network.ledger);
    const submitted: Uint8Array[] = [];
    const logged: string[] = [];
    const live = { status: NOT_FOLLOWING as LiveStatus, onTimings: () => () => undefined };
    const { config } = loadConfig({ flags: { set: ['cage.enabled=true'] } });
    const context: ServerContext = {
      network,
      config,
      projections: projections.map(({ name }) => name),
      reads,
      live,
      workload: new Workload(),
      mempool: null,
      submit: (raw) => {
        submitted.push(raw);
        return Promise.resolve(new Uint8Array(32).fill(7));
      },
      ledger: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
    };
    const log = (line: string): void => void logged.push(line);
    const app = await buildApp(context, { log });
    const mirror = isMirrored ? await CopyMirror.open(engine, context, log) : null;
    return new CageServed({ engine, fold, app, reads, submitted, mirror }, logged);
  }

  apply(blocks: readonly Block[]): void {
    this.fold.apply(blocks);
    this.reads.moved();
  }

  /** `path` below /mpfs. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<CageAnswer> {
    return this.ask('GET', path, undefined, headers);
  }

  post(path: string, body: unknown): Promise<CageAnswer> {
    return this.ask('POST', path, JSON.stringify(body), { 'content-type': 'application/json' });
  }

  private async ask(
    method: 'GET' | 'POST',
    path: string,
    payload: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<CageAnswer> {
    const url = `/mpfs${path}`;
    const asked = { method, url, headers: { host: 'localhost', ...headers }, ...(payload ? { payload } : {}) };
    const moves = this.mirror?.moves ?? 0;
    const response = await this.app.inject(asked);
    if (method === 'GET') await this.mirror?.compare(asked, response, moves);
    const answer = {
      status: response.statusCode,
      headers: response.headers as CageAnswer['headers'],
      text: response.payload,
      json: <T>() => JSON.parse(response.payload) as T,
    };
    this.check.answer(method, url, answer);
    return answer;
  }

  async close(): Promise<void> {
    await this.mirror?.close();
    await this.app.close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease was released');
    await this.engine.close();
    assert.deepEqual(this.logged, [], 'the server had nothing to log');
  }
}

/** The answer is this problem, and says this. */
export function assertCageProblem(answer: CageAnswer, code: string, status: number, detail: RegExp): void {
  const problem = answer.json();
  assert.deepEqual([answer.status, problem['code']], [status, code], answer.text);
  assert.match(String(problem['detail']), detail);
}
