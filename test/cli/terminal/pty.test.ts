/**
 * What a person sees: commands on a pseudo-terminal of 80 columns, with and
 * without colours, and the live views, which leave the terminal as it was.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { needsPty, Pty } from '../../support/pty.ts';
import { document, temporary, withStore } from '../run.ts';
import { Running } from '../running.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours begin with.
const COLOUR = /\x1b\[\d+m/;

/** Words that are wider than the terminal by themselves cannot be helped. */
function assertFits(text: string, columns: number): void {
  for (const line of text.replaceAll('\r', '').split('\n'))
    assert.ok(line.length <= columns || line.trim().split(' ').length === 1, `${line.length} columns: ${line}`);
}

describe('on a terminal of 80 columns', needsPty, () => {
  for (const args of [
    ['--help'],
    ['sync', '--help'],
    ['wallet', 'send', '--help'],
    [],
    ['sync', '--network', 'nonsense', '--source', 'n2n://a:1'],
  ])
    test(`without colours, no word is broken: unspent ${args.join(' ')}`, async (t) => {
      const pty = new Pty(t, args, { cwd: temporary(), env: { NO_COLOR: '1' } });
      await pty.end;
      assert.notEqual(pty.raw.trim(), '');
      assert.ok(!pty.raw.includes('\x1b'), 'not one sequence');
      assertFits(pty.raw, 80);
    });

  test('with colours, and none where TERM is dumb', async (t) => {
    const cwd = temporary();
    const [coloured, dumb] = [new Pty(t, [], { cwd }), new Pty(t, [], { cwd, env: { TERM: 'dumb' } })];
    assert.deepEqual([await coloured.end, await dumb.end], [0, 0]);
    assert.match(coloured.raw, COLOUR);
    assert.ok(!dumb.raw.includes('\x1b'));
    assert.deepEqual(coloured.screen(), dumb.screen());
  });
});

describe('status --watch', () => {
  test('of a store in use: one screen, until q; then the terminal is as it was', needsPty, async (t) => {
    const data = join(temporary(), 'data');
    await document(['sync', '--source', 'devnet:?blocks=30', '--data', data]);
    await withStore(data, async (store) => {
      store.rollback(store.fold.rowAt(27));
      const pty = new Pty(t, ['status', '--watch', '--data', data], { cwd: temporary() });
      await pty.shows(/q leaves/);
      const seen = pty.screen().join('\n');
      assert.match(seen, /^ devnet {2}.*idle/m);
      assert.match(seen, /transactions in each of the last 28 blocks/);
      assert.match(seen, /tip +height 27, slot/);
      assert.match(seen, /rollbacks 1, the last of 2 blocks/, 'what was before it was watched is told too');
      assert.match(seen, new RegExp(`process +${process.pid} \\(a program\\)`));
      assertFits(seen, 80);
      // What happens in the store is seen there.
      store.rollback(store.fold.rowAt(24));
      await pty.shows(/tip +height 24, [\s\S]*rollbacks 2, the last of 3 blocks/);
      pty.type('q');
      assert.equal(await pty.end, 0);
      assert.ok(pty.raw.includes('\x1b[?1049h') && pty.raw.endsWith('\x1b[?25h\x1b[?1049l'), 'the other screen is left');
    });
  });

  test('of one that nobody has open, and without a terminal: a document a line, and SIGTERM is no failure', async (t) => {
    const data = join(temporary(), 'data');
    await document(['sync', '--source', 'devnet:?blocks=30', '--data', data]);
    const watching = new Running(t, ['status', '--watch', '--json', '--data', data, '--status-refresh-seconds', '1'], temporary());
    await watching.says(/"state":"closed".*\n/);
    await withStore(data, () => watching.says(/"state":"idle".*\n/));
    const { code, stdout, stderr } = await watching.interrupt('SIGTERM');
    assert.deepEqual([code, stderr], [0, '']);
    const samples = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { state: string; tip: { height: number }; recent: unknown[] });
    assert.ok(samples.length >= 2);
    for (const { tip, recent } of samples) assert.deepEqual([tip.height, recent.length], [29, 30]);
  });
});

test('start shows what it does at the end of the terminal, and still takes commands', needsPty, async (t) => {
  const cwd = temporary();
  const pty = new Pty(t, ['start', '--port', '0'], { cwd });
  await pty.shows(/● following[\s\S]*tip +height \d+[\s\S]*\n>$/);
  assert.match(pty.screen().join('\n'), /caught up with the tip/);
  pty.type('stauts\x7f\x7f\x7f\x7fatus\r');
  await pty.shows(/> status\nnetwork +devnet\n[\s\S]*last rollback/);
  pty.type('mine 3\r');
  await pty.shows(/mined; /);
  // The panel is drawn once, at the end, whatever was written above it.
  assert.equal(
    pty
      .screen()
      .join('\n')
      .match(/● following/g)?.length,
    1,
  );
  // Another terminal sees the same store, and what happens in it, while the first goes on.
  const other = new Pty(t, ['status', '--watch', '--data', join(cwd, 'data')], { cwd: temporary() });
  await other.shows(/● following[\s\S]*process +\d+ \(unspent start\)/);
  pty.type('fork 2\r');
  // The devnet forks by itself, too: which one is the last when it is shown is left open.
  await other.shows(/rollbacks [1-9]\d*, the last of \d+ block/);
  assertFits(other.screen().join('\n'), 80);
  const asked = new Pty(t, ['status', '--data', join(cwd, 'data')], { cwd: temporary() });
  assert.equal(await asked.end, 0);
  assert.match(asked.screen().join('\n'), /^tip +height \d+, slot [\s\S]*last rollback|^tip +height \d+, slot/m);
  other.type('q');
  assert.equal(await other.end, 0);
  pty.type('\x03');
  assert.equal(await pty.end, 130);
  const last = pty.screen().join('\n');
  assert.match(last, /stopped at height \d+[\s\S]*it resumes\.$/);
  assert.doesNotMatch(last, /● following/);
  assert.ok(pty.raw.lastIndexOf('\x1b[?25h') > pty.raw.lastIndexOf('\x1b[?25l'), 'the cursor is back');
});

test('sync shows a bar of what is done, and takes it away when it is stopped', needsPty, async (t) => {
  const cwd = temporary();
  const args = ['sync', '--source', 'devnet:?blocks=1000000&seed=5', '--sync-group-blocks', '20', '--data', join(cwd, 'data')];
  const pty = new Pty(t, args, { cwd });
  await pty.shows(/lag +━*─+ \d+\.\d%, [\d,]+ blocks/);
  assertFits(pty.screen().join('\n'), 80);
  pty.type('\x03');
  assert.equal(await pty.end, 130);
  assert.doesNotMatch(pty.screen().join('\n'), /──/);
});
