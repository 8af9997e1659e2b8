/**
 * A reader of a published copy beside a server of the store itself: whatever the
 * server is asked, the reader is asked too, at the same block, and must answer
 * the same, byte for byte. Test suites of the server get one where
 * UNSPENT_TEST_MIRROR is set, so that all of them are suites of readers as well.
 */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Engine } from '../../../src/engine/engine.ts';
import { PublishedCopy } from '../../../src/publish/remote/copy.ts';
import { Query } from '../../../src/query/query.ts';
import { buildApp } from '../../../src/server/app.ts';
import type { ServerContext } from '../../../src/server/context.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { CopyReads } from '../../../src/server/reads.ts';
import { PostgresServer, withoutPostgres } from '../sql/postgres-server.ts';
import { type Published, TestPublisher } from './test-publisher.ts';

/** Whether suites of the server are run against a reader, too. */
export const isMirrored = process.env['UNSPENT_TEST_MIRROR'] === '1' && withoutPostgres === false;

/** What is about the server and not about the chain. */
const OWN_ROUTES = /^\/(api\/v1\/)?(status|metrics|health)|\/health\/clock/;
const OWN_HEADERS = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

let starting: Promise<PostgresServer> | undefined;
let running: PostgresServer | undefined;

/** One server for all copies of this process. */
export async function copyDatabase(): Promise<string> {
  starting ??= PostgresServer.start(async () => undefined);
  running = await starting;
  return running.unusedUrl();
}

/** Undefined: none was needed yet. */
export function copyServer(): PostgresServer | undefined {
  return running;
}

/** To be called when the last copy is closed. */
export async function stopCopies(): Promise<void> {
  await (await starting)?.stop();
  starting = undefined;
  running = undefined;
}

if (isMirrored) after(stopCopies);

/** Who brings a copy to where its store is. */
export interface CopyPublisher {
  /** The number of the last change. */
  readonly seq: number;
  publish(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a copy for a store: its URL, and a publisher that has published nothing yet. */
export type MakeCopy<P extends CopyPublisher = CopyPublisher> = (
  store: Published,
) => Promise<{ readonly url: string; readonly publisher: P }>;

async function postgresCopy(store: Published): ReturnType<MakeCopy> {
  const url = await copyDatabase();
  return { url, publisher: await TestPublisher.open(url, store) };
}

export class CopyMirror {
  readonly copy: PublishedCopy;
  readonly reads: CopyReads;
  readonly app: FastifyInstance;
  /** Answers that were the same. */
  compared = 0;
  private readonly publisher: CopyPublisher;
  /** Moves of the store so far. */
  moves = 0;
  private isBehind = true;

  private constructor(parts: Pick<CopyMirror, 'copy' | 'reads' | 'app'>, publisher: CopyPublisher) {
    ({ copy: this.copy, reads: this.reads, app: this.app } = parts);
    this.publisher = publisher;
  }

  /** `context`: of the server beside it. */
  static async open(
    engine: Engine,
    context: ServerContext,
    log: (line: string) => void,
    makeCopy: MakeCopy = postgresCopy,
  ): Promise<CopyMirror> {
    const { network, projections, config } = context;
    const { url, publisher } = await makeCopy({ engine, network, projections, windows: config.utxo });
    await publisher.publish();
    const copy = await PublishedCopy.open(url);
    const { ledger } = network;
    const reads = new CopyReads(copy.engine, ledger);
    const names = copy.engine.columns.map(({ name }) => name);
    await copy.follow((snapshot) => void new Query(snapshot, names, ledger), {
      onMove: () => reads.moved(),
      onEnd: (error) => log(`the copy: ${error.message}`),
    });
    const app = await buildApp({ ...context, reads, copy, workload: new Workload() }, { log });
    const mirror = new CopyMirror({ copy, reads, app }, publisher);
    context.reads.onMove(() => {
      mirror.isBehind = true;
      mirror.moves++;
    });
    mirror.isBehind = false;
    return mirror;
  }

  /** The reader is where the store is. */
  async catchUp(): Promise<void> {
    if (!this.isBehind) return;
    this.isBehind = false;
    await this.publisher.publish();
    while (this.copy.head.seq < this.publisher.seq) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Asks the reader the same, unless the store has moved since: then they would be of two blocks. */
  async compare(options: InjectOptions, expected: LightMyRequestResponse, since: number): Promise<void> {
    const url = String(options.url);
    if (OWN_ROUTES.test(url)) return;
    await this.catchUp();
    if (this.moves !== since) return;
    const found = await this.app.inject(options);
    if (this.moves !== since) return;
    const what = `${options.method} ${url}: from the copy`;
    assert.equal(found.statusCode, expected.statusCode, `${what}: ${found.payload.slice(0, 400)}`);
    assert.deepEqual(headersOf(found), headersOf(expected), what);
    assert.ok(
      found.rawPayload.equals(expected.rawPayload),
      `${what}:\n${found.payload.slice(0, 400)}\nbeside the store:\n${expected.payload.slice(0, 400)}`,
    );
    this.compared++;
  }

  async close(): Promise<void> {
    await this.app.close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease of the reader was released');
    await this.copy.close();
    await this.publisher.close();
  }
}

function headersOf({ headers }: LightMyRequestResponse): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name)));
}
