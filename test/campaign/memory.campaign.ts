/**
 * Resident memory of a server under clients that are not good for it: 200 that
 * ask for every row of a list that has no end and never read, and connections
 * that send 500 requests at once. It must stay within bounds, and what is held
 * must come back; what the allocator keeps of it must serve the next ones, so
 * each is done three times. In megabytes, and says what it measured.
 */
import { ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { get, RawClient } from '../server/http/raw-client.ts';
import { Endless } from '../support/endless.ts';
import { KEEP_ALL } from '../support/harness.ts';
import { leaveOut } from '../support/keep.ts';
import { until } from '../support/patience.ts';
import { Served } from '../support/served.ts';

const READERS = 200;
const PIPELINED = 500;
const PIPELINING = 20;
/** What all answers together may hold (ANSWER_BYTES_MAX), as text of two bytes a character, and what the engine takes meanwhile. */
const PEAK_MB_MAX = 700;
/** Of objects and buffers, when nobody asks any more. */
const LEFT_MB_MAX = 50;
/** Of resident memory, from the end of the first time to that of the last. */
const GROWN_MB_MAX = 100;
const TIMES = 3;
const MB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let served: Served;
let endless: Endless;
let port: number;
let path: string;
before(async () => {
  served = await Served.open({ blocks: 20, store: { keeps: leaveOut(KEEP_ALL, 'balance') }, server: { rowsMax: 100_000 } });
  path = `/api/v1/addresses/${[...served.devnet.chain.utxos.values()][0].addressHex}/utxos`;
  endless = new Endless(served);
  served.app.server.timeout = 5000;
  ({ port } = await served.listen());
});
after(() => served.close());

interface Usage {
  readonly peak: number;
  readonly left: number;
  readonly resident: number;
}

const held = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** Resident memory at most, and what is left when all that the body opened is closed again. */
async function usageOf(body: () => Promise<readonly RawClient[]>): Promise<Usage> {
  collect();
  const [base, heldBefore] = [process.memoryUsage().rss, held()];
  let peak = 0;
  const looks = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss - base);
  }, 20);
  const clients = await body();
  for (const { socket } of clients) socket.destroy();
  await until(() => endless.open === 0 && served.context.workload.bytes === 0, 'nothing is held');
  clearInterval(looks);
  let left = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 50 && left > LEFT_MB_MAX * MB; tries++) {
    await sleep(100);
    collect();
    left = held() - heldBefore;
  }
  return { peak: Math.round(peak / MB), left: Math.round(left / MB), resident: Math.round(process.memoryUsage().rss / MB) };
}

async function ask(count: number, text: string): Promise<readonly RawClient[]> {
  const { workload } = served.context;
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.open(port)));
  for (const client of clients) client.write(text);
  await until(() => endless.open > 0 || workload.bytes > 0, 'they are worked on');
  await until(() => workload.waiting === 0, 'no work is left but for their reading');
  return clients;
}

const CASES: readonly (readonly [name: string, clients: number, question: string, times: number])[] = [
  [`${READERS} clients that never read of a stream`, READERS, 'limit=all', 1],
  [`${READERS} clients that never read of whole answers`, READERS, 'limit=20000', 1],
  [`${PIPELINING} connections with ${PIPELINED} requests at once`, PIPELINING, 'limit=20000', PIPELINED],
];

for (const [name, clients, question, repeated] of CASES) {
  test(name, async (t) => {
    const usages: Usage[] = [];
    for (let time = 0; time < TIMES; time++) usages.push(await usageOf(() => ask(clients, get(`${path}?${question}`).repeat(repeated))));
    t.diagnostic(usages.map(({ peak, left, resident }) => `at most +${peak}, left +${left}, resident ${resident}`).join('; '));
    ok(
      usages.every(({ peak, left }) => peak < PEAK_MB_MAX && left < LEFT_MB_MAX),
      JSON.stringify(usages),
    );
    ok(usages[TIMES - 1].resident - usages[0].resident < GROWN_MB_MAX, JSON.stringify(usages));
  });
}
