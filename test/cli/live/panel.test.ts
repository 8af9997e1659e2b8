/**
 * The live view without a terminal: one sample as lines, at widths from 40 to 120
 * columns, behind and at the tip, with characters that every terminal has; and
 * the chart and the bar it is made of.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bar, chart } from '../../../src/cli/live/chart.ts';
import { type PanelOptions, panelLines } from '../../../src/cli/live/panel.ts';
import { styleOf, widthOf } from '../../../src/cli/terminal/style.ts';
import type { LiveSample } from '../../../src/store/live/sample.ts';

const NOW = Date.parse('2026-05-01T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - 1000 * seconds).toISOString();
const PLAIN = styleOf({ write: () => true }, { LANG: 'C.UTF-8' });
const ASCII = styleOf({ write: () => true }, { LANG: 'C' });
const COLOURED = styleOf({ write: () => true }, { LANG: 'C.UTF-8', FORCE_COLOR: '1' });

const AT_TIP: LiveSample = {
  time: ago(0),
  data: '/var/lib/unspent',
  network: 'preview',
  process: { id: 4711, holder: 'unspent start', since: ago(7200), url: 'http://127.0.0.1:8437/', memoryBytes: 200e6 },
  state: 'following',
  source: null,
  peer: { url: 'n2n://node.example:3001', version: 'N2N 15', connections: 1, lastError: null },
  tip: { height: 3000, slot: 60_000, hash: 'ab'.repeat(32), time: ago(12) },
  sourceTip: { height: 3000, slot: 60_000 },
  lagBlocks: 0,
  lagSeconds: 0,
  blocksPerSecond: 0.05,
  bytesPerSecond: 100,
  lastBlockAt: ago(12),
  secondsPerBlock: 20,
  utxos: 123_456,
  unspent: '31,000,000.5 ada',
  horizon: { height: 840, slot: 16_800 },
  rollbacks: 3,
  lastRollback: { time: ago(90), undone: 2, height: 2990 },
  fills: [],
  diskBytes: 3e9,
  publishing: null,
  recent: Array.from({ length: 60 }, (_, i) => ({ height: 2941 + i, txs: i % 7, bytes: 500 })),
};
const BEHIND: LiveSample = {
  ...AT_TIP,
  tip: { height: 999, slot: 20_000, hash: 'cd'.repeat(32), time: ago(50_000) },
  lagBlocks: 2001,
  lagSeconds: 40_020,
  blocksPerSecond: 100,
  bytesPerSecond: 2e6,
  lastBlockAt: ago(0),
  fills: [
    { projection: 'balance.address', done: 0.25 },
    { projection: 'index.asset', done: 0.5 },
  ],
};

function lines(sample: LiveSample, columns: number, more: Partial<PanelOptions> = {}): string[] {
  return panelLines(sample, { columns, rows: 24, style: PLAIN, now: NOW, speeds: [], isShort: false, ...more });
}

const row = (shown: readonly string[], name: string): string | undefined => shown.find((line) => line.startsWith(` ${name.padEnd(9)}`));

describe('the panel', () => {
  for (const columns of [40, 60, 80, 120])
    test(`fits into ${columns} columns, whatever is in it`, () => {
      const trouble = { ...BEHIND, state: 'waiting', peer: { ...BEHIND.peer!, lastError: 'the node '.repeat(30) } } as const;
      const closed = { ...AT_TIP, process: null, state: 'closed', lagBlocks: null, peer: null } as const;
      const begins = { ...AT_TIP, tip: null, recent: [], horizon: null, utxos: null, lastRollback: null, sourceTip: null } as const;
      for (const sample of [AT_TIP, BEHIND, trouble, closed, begins]) {
        for (const style of [PLAIN, ASCII, COLOURED]) {
          for (const isShort of [true, false]) {
            const shown = lines(sample, columns, { style, isShort, speeds: [1, 50, 100] });
            for (const line of shown) assert.ok(widthOf(line) < columns, `${widthOf(line)} of ${columns}: ${line}`);
            if (style !== ASCII) continue;
            // Of what is cut off the end says so.
            for (const line of shown) assert.match(line.replace(/…$/, ''), /^[\x20-\x7e]*$/, line);
          }
        }
      }
    });

  test('at the tip says how old it is, and what is in the blocks', () => {
    const shown = lines(AT_TIP, 80);
    assert.match(shown[0], /^ preview {2}\/var\/lib\/unspent +● following {2}12:00:00$/);
    assert.ok(shown.includes(' transactions in each of the last 60 blocks, at most 6'));
    assert.equal(row(shown, 'tip'), ' tip       height 3,000, slot 60,000');
    assert.equal(row(shown, 'lag'), ' lag       at the tip; the last block came 12s ago');
    assert.equal(row(shown, 'speed'), ' speed     a block every 20s');
    assert.equal(row(shown, 'rollbacks'), ' rollbacks 3, the last of 2 blocks, 1m 30s ago');
    assert.equal(row(shown, 'process'), ' process   4711 (unspent start), for 2h 0m');
    assert.equal(row(shown, 'filling'), undefined);
    assert.equal(row(lines(AT_TIP, 59), 'block'), undefined, 'a hash has no place there');
    assert.match(lines({ ...AT_TIP, state: 'waiting' }, 80)[0], /● connection lost/);
    assert.match(lines({ ...AT_TIP, state: 'waiting', peer: { ...AT_TIP.peer!, connections: 0 } }, 80)[0], /● never connected/);
  });

  test('behind shows how much is done, what is left, how fast it goes, and what is filled', () => {
    const shown = lines(BEHIND, 80, { speeds: [20, 100, 80] });
    assert.ok(shown.includes(' blocks a second, at most 100'));
    assert.match(row(shown, 'lag')!, /^ lag {7}━+─+ 33\.3%, 2,001 blocks \(11h 7m\) behind, 20s left$/);
    assert.equal(row(shown, 'speed'), ' speed     100 blocks/s, 2 MB/s');
    assert.match(row(shown, 'filling')!, /^ filling {3}━+─+ 25\.0% of balance\.address, index\.asset$/);
    const [lag, filling] = [row(shown, 'lag')!, row(shown, 'filling')!].map((line) => [line.match(/━/g)!.length, line.match(/─/g)!.length]);
    assert.ok(Math.abs(lag[0] / (lag[0] + lag[1]) - 1 / 3) < 0.1 && Math.abs(filling[0] / (filling[0] + filling[1]) - 1 / 4) < 0.1);
    // Where there is no room for a bar there is none.
    assert.equal(row(lines(BEHIND, 62), 'lag'), ' lag       33.3%, 2,001 blocks (11h 7m) behind, 20s left');
    assert.match(row(lines(BEHIND, 120, { style: ASCII }), 'lag')!, /^ lag {7}=+-+ 33\.3%/);
  });
});

describe('a chart', () => {
  test('shows the last values that fit, each that is above nothing, and something to stand on', () => {
    assert.deepEqual(chart([0, 1, 8, 4], 4, 1, PLAIN), ['▁▁█▄']);
    assert.deepEqual(chart([9, 9, 0, 1, 16, 8], 4, 2, PLAIN), ['  █ ', '▁▁██']);
    assert.deepEqual(chart([0, 8], 4, 1, ASCII), ['.#']);
    assert.deepEqual(chart([1000, 1], 2, 1, PLAIN), ['█▁']);
    assert.deepEqual([chart([], 4, 1, PLAIN), chart([1], 0, 1, PLAIN)], [[''], ['']]);
  });

  test('and a bar what is done of it, and never more', () => {
    assert.deepEqual(
      [0, 0.5, 0.999, 1, 7, -1].map((done) => bar(done, 4, PLAIN)),
      ['────', '━━──', '━━━─', '━━━━', '━━━━', '────'],
    );
    assert.equal(bar(0.5, 4, ASCII), '==--');
    assert.equal(bar(0.5, -3, PLAIN), '');
  });
});
