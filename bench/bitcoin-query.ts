/**
 * The unspent outputs of a script over HTTP, as Esplora's clients ask for them:
 * scripts with 10, 1,000 and 100,000 of them, all rows in one answer, one client
 * after another. The server is in its own thread, the client in this one.
 */
import { request } from 'node:http';
import { sha256 } from '../src/crypto/sha256.ts';
import { scriptKey } from '../src/ledgers/bitcoin/index.ts';
import { serve } from '../src/server/serve.ts';
import type { OpenStore } from '../src/store/store.ts';
import { concatBytes, toHex, utf8 } from '../src/util/bytes.ts';
import { keptScript } from '../test/support/op-true-chain.ts';
import { round } from './support.ts';

export interface QueryFigures {
  readonly rows: number;
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly rowsPerSecond: number;
}

/** Rows, how often they are asked for, and which of the outputs of the chain are theirs. */
const SIZES = [
  { rows: 10, requests: 3000, every: 10_000 },
  { rows: 1000, requests: 500, every: 100 },
  { rows: 100_000, requests: 30, every: 1 },
] as const;
const WARM_UP = 0.1;

/** Scripts that many outputs pay to. */
export class Crowds {
  readonly scripts = SIZES.map(({ rows }) => concatBytes(Uint8Array.of(0, 32), sha256(utf8(`crowd of ${rows}`))));
  private readonly left: number[] = SIZES.map(({ rows }) => rows);

  /** The script of the n-th output that nobody spends: spread over the chain until each has its rows. */
  scriptOf(n: number): Uint8Array {
    const whose = SIZES.findIndex(({ every }, i) => this.left[i] > 0 && n % every === 0);
    if (whose < 0) return keptScript(n);
    this.left[whose]--;
    return this.scripts[whose];
  }

  get isComplete(): boolean {
    return this.left.every((left) => left === 0);
  }
}

export async function queries(store: OpenStore, crowds: Crowds): Promise<QueryFigures[]> {
  if (!crowds.isComplete) throw new Error('the chain is too short for 100,000 outputs to one script: --sync-only, or more --blocks');
  const served = await serve(store, { port: 0 });
  try {
    const figures: QueryFigures[] = [];
    for (let i = 0; i < SIZES.length; i++) figures.push(await ask(Number(new URL(served.url).port), crowds.scripts[i], SIZES[i]));
    return figures;
  } finally {
    await served.close();
  }
}

async function ask(port: number, script: Uint8Array, { rows, requests }: (typeof SIZES)[number]): Promise<QueryFigures> {
  const path = `/api/scripthash/${toHex(sha256(script))}/utxo`;
  const found = JSON.parse((await get(port, path)).toString()).length;
  if (found !== rows) throw new Error(`${found} rows of ${toHex(scriptKey(script))}, not ${rows}`);
  for (let i = 0; i < requests * WARM_UP; i++) await get(port, path);
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const started = performance.now();
    await get(port, path);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => round(times[Math.min(times.length - 1, Math.floor(share * times.length))], 2);
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1000;
  return { rows, requests, p50: at(0.5), p99: at(0.99), rowsPerSecond: Math.round((rows * requests) / seconds) };
}

function get(port: number, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        const body = Buffer.concat(pieces);
        if (answer.statusCode === 200) resolve(body);
        else reject(new Error(`${path}: ${answer.statusCode} ${body}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
