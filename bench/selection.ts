/**
 * Coin selection alone, without a database: what one selection computes for when
 * a wallet has many coins. `--coins N` (100,000), `--rounds N` (15).
 *
 * Reported is the processor time of the thread, the best, the middle and the worst
 * of the rounds, for payments of different sizes at a low, a usual and a high fee rate.
 */
import { Random } from '../src/chains/random.ts';
import type { Coin } from '../src/wallet/selection/bitcoin/coin.ts';
import { DEFAULT_RATES } from '../src/wallet/selection/bitcoin/fee-rate.ts';
import { inputWeight } from '../src/wallet/selection/bitcoin/input-weight.ts';
import { selectCoins } from '../src/wallet/selection/bitcoin/select.ts';
import { type BenchOptions, option, round, say } from './support.ts';

const WPKH_WEIGHT = inputWeight({ kind: 'p2wpkh' });
const TR_WEIGHT = inputWeight({ kind: 'p2tr-key' });
const SCRIPT = Uint8Array.from([0x00, 0x14, ...new Uint8Array(20)]);

/** Values spread over five powers of ten, as wallets that receive payments have them. */
function coinsOf(count: number, random: Random): Coin[] {
  return Array.from({ length: count }, (_, i): Coin => {
    const isTaproot = random.chance(0.2);
    return {
      txId: random.bytes(32),
      index: i % 4,
      value: BigInt(Math.floor(10_000 * 10 ** (5 * (random.next() / 2 ** 32)))),
      weight: isTaproot ? TR_WEIGHT : WPKH_WEIGHT,
      type: isTaproot ? 'p2tr' : 'p2wpkh',
      script: `${i}`,
      confirmations: 1 + random.int(1000),
      own: random.chance(0.5),
      ancestors: 0,
      descendants: 0,
      bumpFee: 0n,
    };
  });
}

export async function run(options: BenchOptions): Promise<void> {
  const count = option(options.args, 'coins', 100_000);
  const rounds = option(options.args, 'rounds', 15);
  const random = new Random(1);
  const coins = coinsOf(count, random);
  const total = coins.reduce((sum, { value }) => sum + value, 0n);
  const rows: Record<string, unknown>[] = [];
  for (const rate of [2000, 20_000, 60_000]) {
    for (const [name, value] of [
      ['small', 250_000n],
      ['twenty inputs', (total / BigInt(count)) * 20n],
      ['a fiftieth of all', total / 50n],
    ] as const) {
      const times: number[] = [];
      let inputs = 0;
      for (let i = 0; i < rounds; i++) {
        const before = process.threadCpuUsage();
        const selection = selectCoins(
          coins,
          {
            outputs: [{ value: value + BigInt(i), script: SCRIPT }],
            change: { script: SCRIPT, spendWeight: WPKH_WEIGHT },
            rates: { ...DEFAULT_RATES, target: rate },
          },
          random,
        );
        const { user, system } = process.threadCpuUsage(before);
        times.push((user + system) / 1000);
        inputs = selection.inputs.length;
      }
      times.sort((a, b) => a - b);
      const [best, median, worst] = [0, rounds >> 1, rounds - 1].map((i) => round(times[i], 1));
      rows.push({ rate, payment: name, inputs, bestMs: best, medianMs: median, worstMs: worst });
      say(
        options,
        `${rate / 1000} sat/vB, ${name}: ${inputs} inputs, ${best} ms of CPU at best, ${median} in the middle, ${worst} at worst`,
      );
    }
  }
  if (options.json) process.stdout.write(`${JSON.stringify({ coins: count, rounds, rows })}\n`);
}
