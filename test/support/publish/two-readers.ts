/**
 * Two readers of one copy, asked by chance while blocks come and go: each answer
 * is that of one published state, and of no older one than the reader was at when
 * it was asked. Which state that is, the server beside the store says, held at
 * every state there was; what addresses have, the model of the chain says as well.
 */
import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import { Random } from '../../../src/chains/random.ts';
import { buildApp } from '../../../src/server/app.ts';
import type { Reads } from '../../../src/server/context.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { EngineReads } from '../../../src/server/reads.ts';
import { type ServedCopy, serveCopy } from '../../../src/server/serve-copy.ts';
import { pause } from '../../../src/util/pause.ts';
import { RandomRequests } from '../copy/requests.ts';
import { TEST_SEED } from '../harness.ts';
import { until } from '../patience.ts';
import { Served } from '../served.ts';
import { publishedCopy, type ToldPublisher } from './copy-publisher.ts';

/** The store as it was when a change was published. */
interface State {
  readonly seq: number;
  readonly reads: EngineReads;
  /** Outputs of each address, as the producer of the chain has them. */
  readonly model: ReadonlyMap<string, readonly string[]>;
}

/** Those of the state that is looked at. */
class StateReads implements Reads {
  current: EngineReads;

  constructor(first: EngineReads) {
    this.current = first;
  }

  lease(): ReturnType<Reads['lease']> {
    return this.current.lease();
  }

  attempt<T>(read: () => T): T | Promise<T> {
    return this.current.attempt(read);
  }

  engineStats(column?: string): ReturnType<Reads['engineStats']> {
    return this.current.engineStats(column);
  }

  get columns(): readonly string[] {
    return this.current.columns;
  }

  moved(): void {}

  onMove(): () => void {
    return () => undefined;
  }
}

export interface TwoReadersReport {
  asked: number;
  /** Answers that were of a state before the newest published one. */
  older: number;
  /** Answers that the model gives, too. */
  modelled: number;
  moves: number;
  snapshots: number;
}

class Walk {
  readonly report: TwoReadersReport = { asked: 0, older: 0, modelled: 0, moves: 0, snapshots: 0 };
  private readonly served: Served;
  private readonly publisher: ToldPublisher;
  private readonly readers: readonly ServedCopy[];
  private readonly states: State[] = [];
  private beside!: FastifyInstance;
  private reads!: StateReads;
  private isOver = false;

  constructor(served: Served, publisher: ToldPublisher, readers: readonly ServedCopy[]) {
    this.served = served;
    this.publisher = publisher;
    this.readers = readers;
  }

  /** Of the store as it is now, which is published. */
  keepState(): void {
    const { rig, devnet } = this.served;
    const reads = new EngineReads(rig.engine, rig.devnet.ledger);
    // Held by this one lease.
    reads.lease();
    const model = new Map<string, string[]>();
    for (const { addressHex, txId, index } of devnet.chain.utxos.values())
      model.set(addressHex, [...(model.get(addressHex) ?? []), `${Buffer.from(txId).toString('hex')}#${index}`]);
    this.states.push({ seq: this.publisher.seq, reads, model });
  }

  async open(): Promise<void> {
    this.keepState();
    this.reads = new StateReads(this.states[0].reads);
    const context = { ...this.served.context, reads: this.reads, workload: new Workload() };
    this.beside = await buildApp(context, { log: () => undefined });
  }

  async move(random: Random, moves: number): Promise<void> {
    for (; this.report.moves < moves; this.report.moves++) {
      // One change each: undoing several blocks would show states that nobody kept.
      if (random.chance(0.4)) this.served.back(1);
      else this.served.forward(1 + random.int(3));
      await this.publisher.publish();
      this.keepState();
      await pause(random.int(40), {});
    }
    this.isOver = true;
  }

  /** So often at least, and until the moves are over. */
  async ask(which: number, requests: RandomRequests, leastTimes: number): Promise<void> {
    const reader = this.readers[which];
    for (let times = 0; times < leastTimes || (!this.isOver && times < 3 * leastTimes); times++) {
      const { url, headers = {} } = requests.next(times % 4 === 0 ? 'addressAll' : undefined);
      const { seq } = reader.copy.head;
      const response = await fetch(new URL(url.slice(1), reader.url), { headers: headers as Record<string, string> });
      const body = Buffer.from(await response.arrayBuffer());
      await this.check({ url, headers }, { status: response.status, body, block: response.headers.get('x-block-hash') }, seq);
      this.report.asked++;
    }
  }

  private async check(
    asked: { readonly url: string; readonly headers: object },
    found: { readonly status: number; readonly body: Buffer; readonly block: string | null },
    seq: number,
  ): Promise<void> {
    // The state that was published last may be answered from before it is told here.
    const newest = this.publisher.seq;
    await until(() => (this.states.at(-1)?.seq ?? 0) >= newest, 'the state is kept');
    const candidates = this.states.filter((state) => state.seq >= seq).reverse();
    for (const [i, state] of candidates.entries()) {
      if (!(await this.isAnswerOf(state, asked, found))) continue;
      if (i > 0) this.report.older++;
      this.checkModel(state, asked.url, found);
      return;
    }
    assert.fail(
      `${asked.url}: of none of ${candidates.length} states from change ${seq}: ${found.status} at ${found.block}: ${found.body}`,
    );
  }

  /** What is at an earlier block names that one: the state is told by the body alone then. */
  private async isAnswerOf(
    state: State,
    { url, headers }: { readonly url: string; readonly headers: object },
    found: { readonly status: number; readonly body: Buffer; readonly block: string | null },
  ): Promise<boolean> {
    return this.inTurn(async () => {
      this.reads.current = state.reads;
      const { statusCode, rawPayload, headers: told } = await this.beside.inject({ method: 'GET', url, headers: { ...headers } });
      return statusCode === found.status && (told['x-block-hash'] ?? null) === found.block && rawPayload.equals(found.body);
    });
  }

  /** One question after the other: they share what is looked at. */
  private last: Promise<unknown> = Promise.resolve();

  private inTurn<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.last.then(body);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private checkModel({ model }: State, url: string, { status, body }: { readonly status: number; readonly body: Buffer }): void {
    const address = /^\/api\/v1\/addresses\/([0-9a-f]+)\/utxos\?all=true$/.exec(url)?.[1];
    if (address === undefined || status !== 200 || body[0] !== '['.charCodeAt(0)) return;
    const rows = JSON.parse(body.toString()) as readonly { readonly tx_hash: string; readonly output_index: number }[];
    const outputs = rows.map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`).sort();
    assert.deepEqual(outputs, [...(model.get(address) ?? [])].sort(), url);
    this.report.modelled++;
  }

  async close(): Promise<void> {
    await this.beside.close();
  }
}

/** The copy at `url` is made by this. */
export async function walkTwoReaders(url: string, moves: number, leastTimes: number): Promise<TwoReadersReport> {
  const served = await Served.open({ blocks: 40, mirrored: false, store: { pruneDepth: 40, rollbackWindow: 60 } });
  const { network, projections, config } = served.context;
  const published = { engine: served.rig.engine, network, projections, windows: config.utxo };
  const { publisher } = await publishedCopy(url)(published);
  await publisher.publish();
  const readers = [await serveCopy(url, { port: 0 }), await serveCopy(url, { port: 0 })];
  const walk = new Walk(served, publisher, readers);
  try {
    await walk.open();
    const asking = readers.map((_, i) => walk.ask(i, new RandomRequests(new Random(TEST_SEED + i), served.devnet), leastTimes));
    await Promise.all([walk.move(new Random(TEST_SEED), moves), ...asking]);
    return { ...walk.report, snapshots: publisher.snapshots };
  } finally {
    await walk.close();
    for (const reader of readers) await reader.close();
    await publisher.close();
    await served.close();
  }
}
