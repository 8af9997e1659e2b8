/**
 * One of many processes that want the same coins (W63, W64). Arguments: URL, its
 * number. It says `ready`, waits for a line, then tries to lease each of some
 * coins alone, then selects among the rest; it answers with what it got.
 */
import { createInterface } from 'node:readline';
import { isUnspentError } from '../../../src/util/errors.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { firstCoins, idOf, NOW, outpointOf } from '../support/world.ts';

export interface LeaseOrder {
  /** Coins `single n:0` are leased one by one. */
  readonly singles: number;
  readonly selections: number;
  readonly coinsEach: number;
}

export interface LeaseResult {
  readonly singles: readonly number[];
  readonly selected: readonly string[];
  readonly transient: number;
}

const [url, number] = process.argv.slice(2);
const store = await openWalletStore(url, { isDurable: false });
const { id: wallet } = await store.getWallet('wallet 1');
const lease = { id: idOf(`process ${number}`), now: NOW, durationMs: 1_000_000 };

async function leaseSingle(n: number): Promise<number[]> {
  try {
    await store.leaseCoins(wallet, [outpointOf(`single ${n}:0`)], lease);
    return [n];
  } catch (error) {
    if (isUnspentError(error, 'COIN_LEASED')) return [];
    throw error;
  }
}

async function select(coinsEach: number): Promise<string[]> {
  const { coins } = await store.selectAndLease(wallet, { now: NOW }, (free) => ({ coins: firstCoins(free, coinsEach) }), lease);
  return coins.map(({ txId, index }) => `${Buffer.from(txId).toString('hex')}#${index}`);
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as LeaseOrder;
  const singles: number[] = [];
  for (let n = 0; n < order.singles; n++) singles.push(...(await leaseSingle(n)));
  const selected: string[] = [];
  for (let n = 0; n < order.selections; n++) selected.push(...(await select(order.coinsEach)));
  const transient = store.failures.reduce((sum, { count }) => sum + count, 0);
  const result: LeaseResult = { singles, selected, transient };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  break;
}
await store.close();
