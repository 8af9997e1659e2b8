/** docs/scale.md: its tables are what `unspent bench scale` prints, and what a row costs there is what the page of measurements says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scaleTables } from '../../bench/scale.ts';
import { COSTS } from '../../bench/scale-costs.ts';
import { needsOf, rowsOf, usesOf } from '../../bench/scale-model.ts';
import { simulateLag } from '../../bench/scale-queue.ts';
import { type ChainSize, SIZES } from '../../bench/scale-sizes.ts';

const textOf = (page: string): string => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

describe('scale', () => {
  it('the tables of the page are those of the simulator', () => {
    const page = textOf('scale.md');
    for (const [name, table] of Object.entries(scaleTables()))
      assert.ok(page.includes(`\n${table}\n`), `the table '${name}' is another one: put what bin/unspent bench scale prints in its place`);
  });

  it('every cost is cited from the page of measurements', () => {
    const page = textOf('internals/speed.md');
    for (const [name, { cited }] of Object.entries(COSTS))
      assert.ok(page.includes(cited), `${name}: speed.md does not say '${cited}' any more`);
  });

  it('rows of a transaction are those of the layout', () => {
    const size: ChainSize = { ...SIZES[0], spends: 1, creates: 2, indexes: 2, withHistory: false };
    // tx; two outputs with two index rows each; one output deleted with its index rows, put among the spent, and pruned.
    assert.equal(rowsOf(size), 1 + 6 + (3 + 1) + 1);
    // The transaction itself, a row for each script it met, and who spent.
    assert.equal(rowsOf({ ...size, withHistory: true }) - rowsOf(size), 1 + 3 + 1);
  });

  it('a block waits for those before it', () => {
    const calm: ChainSize = { ...SIZES[0], isRandom: false, perSecond: 1, secondsPerBlock: 1 };
    assert.deepEqual(rounded(simulateLag(calm, () => 0.5)), { p50: 0.5, p99: 0.5 });
    assert.equal(
      simulateLag(calm, () => 1),
      null,
    );
    const [seldom, often] = [0.1, 0.9].map((share) => simulateLag({ ...calm, isRandom: true }, () => share));
    assert.ok(seldom !== null && often !== null);
    // Half of the blocks that take a tenth of the time find nobody before them; of those that take nine tenths hardly one.
    assert.ok(seldom.p50 < 0.11 && often.p50 > 2.5, `${seldom.p50} and ${often.p50}`);
  });

  it('what breaks first is what is used most', () => {
    for (const size of SIZES) {
      const shares = usesOf(size).map(({ share }) => share);
      assert.deepEqual(
        shares,
        shares.toSorted((a, b) => b - a),
      );
      assert.ok(needsOf(size).rowsPerSecond > 0);
    }
  });
});

function rounded(lag: ReturnType<typeof simulateLag>): object | null {
  return lag && { p50: Number(lag.p50.toFixed(6)), p99: Number(lag.p99.toFixed(6)) };
}
