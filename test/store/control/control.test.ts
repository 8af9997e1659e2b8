/**
 * The control socket of a store, from both ends: what is no request gets a typed
 * answer and harms nobody, a command can be cancelled, a path may be long, and a
 * store that is followed is asked between its blocks.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { openEmbedded } from '../../../src/families/open-source.ts';
import { open } from '../../../src/index.ts';
import { LineReader, lineOf } from '../../../src/store/control/protocol.ts';
import { openStore } from '../../../src/store/store.ts';
import { CONTROL_ARGUMENTS_MAX, CONTROL_COMMANDS_MAX, CONTROL_LINE_BYTES_MAX } from '../../../src/util/limits.ts';
import { VERSION } from '../../../src/util/version.ts';
import { failure, temporary, unspentHere, withStore } from '../../cli/run.ts';
import { until } from '../../support/patience.ts';

const REQUEST = { unspent: VERSION, args: ['status'], settings: {}, cwd: '/', columns: null, resultColumns: null, colours: false };

interface Answer {
  readonly exit?: number;
  readonly out?: string;
  readonly err?: string;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** Everything the holder says to these bytes after its greeting, until it closes the connection. */
function answersTo(data: string, bytes: string | Uint8Array): Promise<Answer[]> {
  const { socket, answers } = talk(data);
  socket.end(bytes);
  return answers;
}

/** A connection, and all that the holder says after its greeting. */
function talk(data: string): { readonly socket: Socket; readonly answers: Promise<Answer[]> } {
  const socket = connect({ path: join(data, 'control', 'socket'), allowHalfOpen: true });
  const answers = new Promise<Answer[]>((resolve, reject) => {
    const lines = new LineReader();
    const messages: Answer[] = [];
    socket.on('data', (part) => messages.push(...(lines.take(part) as Answer[])));
    socket.on('error', reject);
    socket.on('end', () => {
      socket.end();
      resolve(messages.slice(1));
    });
  });
  return { socket, answers };
}

/** A generator of numbers below a bound, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

describe('the control socket of a store', () => {
  const folder = temporary();
  const data = join(folder, 'data');

  before(async () => {
    assert.equal((await unspentHere(['sync', '--source', 'devnet:?blocks=5', '--data', data, '--quiet'])).code, 0);
  });

  test('answers what is no request with a typed error, and the store lives', () =>
    withStore(data, async (store) => {
      const wrong: [bytes: string, code: string][] = [
        ['not JSON\n', 'PROTOCOL'],
        ['[]\n', 'PROTOCOL'],
        ['null\n', 'PROTOCOL'],
        [`${JSON.stringify({ ...REQUEST, args: 'status' })}\n`, 'PROTOCOL'],
        [`${JSON.stringify({ ...REQUEST, args: new Array(CONTROL_ARGUMENTS_MAX + 1).fill('x') })}\n`, 'PROTOCOL'],
        [`${JSON.stringify({ ...REQUEST, settings: { data: null } })}\n`, 'PROTOCOL'],
        ['x'.repeat(CONTROL_LINE_BYTES_MAX + 1), 'PROTOCOL'],
        [lineOf({ ...REQUEST, unspent: '0.0.1' }), 'STORE_LOCKED'],
      ];
      for (const [bytes, code] of wrong) {
        const [{ failure: said }, ...more] = await answersTo(data, bytes);
        assert.deepEqual([said?.code, more], [code, []], bytes.slice(0, 60));
      }
      assert.deepEqual(await answersTo(data, ''), [], 'and nothing with nothing');
      // No command line of ours asks this.
      const { socket, answers } = talk(data);
      socket.write(lineOf({ ...REQUEST, args: ['compact'], settings: { data } }));
      const [{ err }, { exit }] = await answers;
      assert.match(err ?? '', new RegExp(`^unspent: process ${process.pid} has the store open; 'compact' needs it for itself`));
      assert.equal(exit, 1);
      assert.equal(store.digest().utxos, store.totals()?.utxos);
    }));

  test('survives whatever becomes of a request on its way', () =>
    withStore(data, async (store) => {
      const next = numbers(7);
      // Of another version, so that one which is still whole is refused, not run.
      const good = Buffer.from(lineOf({ ...REQUEST, unspent: '0.0.1' }));
      for (let round = 0; round < 100; round++) {
        const bytes = Buffer.from(good);
        for (let changes = 1 + next(4); changes > 0; changes--) bytes[next(bytes.length)] = next(256);
        const cut = next(4) === 0 ? bytes.subarray(0, next(bytes.length)) : bytes;
        for (const { failure: said } of await answersTo(data, cut)) assert.ok(said?.code === 'PROTOCOL' || said?.code === 'STORE_LOCKED');
      }
      assert.equal(store.digest().utxos, store.totals()?.utxos);
    }));

  test('runs some commands at a time, and cancels them when the other side has left', () =>
    withStore(data, async () => {
      // `answersTo` sends the end of its half with the request: that is how a command is cancelled.
      const request = lineOf({ ...REQUEST, settings: { data } });
      const asked = Array.from({ length: CONTROL_COMMANDS_MAX + 1 }, () => answersTo(data, request));
      let ended = 0;
      for (const answers of asked) void answers.then(() => ended++);
      // One is refused; in the moment that another hears of its end there is a place again.
      await until(() => ended >= 2, 'the end of a command');
      const next = talk(data);
      next.socket.write(request);
      const said = await Promise.all(asked);
      assert.ok(
        said.flat().every(({ out }) => out === undefined),
        'no result',
      );
      const ends = said.map((answers) => answers.at(-1)?.failure?.code ?? answers.at(-1)?.exit);
      assert.deepEqual(ends.sort(), [...new Array(CONTROL_COMMANDS_MAX).fill(130), 'BUSY']);
      const answers = await next.answers;
      assert.deepEqual(answers.at(-1), { exit: 0 });
      assert.match(answers.map(({ out }) => out ?? '').join(''), /^tip\s+height 4,/m);
    }));

  test('has a place where the path of the data directory is too long, and leaves nothing behind', async () => {
    const long = join(folder, 'x'.repeat(100), 'y'.repeat(100));
    mkdirSync(long, { recursive: true });
    await unspentHere(['sync', '--source', 'devnet:?blocks=2', '--data', join(long, 'data'), '--quiet']);
    let socket = '';
    await withStore(join(long, 'data'), async () => {
      socket = readFileSync(join(long, 'data', 'control', 'elsewhere'), 'utf8');
      assert.ok(existsSync(socket));
      const { code, stderr } = await unspentHere(['digest', '--data', join(long, 'data')]);
      assert.deepEqual([code, stderr], [0, '']);
    });
    assert.ok(!existsSync(join(socket, '..')));
    assert.deepEqual(readdirSync(join(long, 'data')).sort(), ['db', 'unspent.json']);
  });

  test('is of programs with the library, too, unless they do not want it', async () => {
    const store = await open({ data, create: false });
    const { message } = await failure(['compact', '--data', data], 'STORE_LOCKED', 1);
    assert.match(message, new RegExp(`^process ${process.pid} \\(a program, since`));
    await store.close();
    const closed = await openStore({ data, create: false, control: false });
    assert.ok(!existsSync(join(data, 'control')));
    await failure(['status', '--data', data], 'STORE_LOCKED', 1);
    await closed.close();
  });

  test('of a store that is followed: prunes between blocks, and refuses to go back', async () => {
    const followed = join(folder, 'followed');
    const source = 'devnet:?blocks=30&rollbacks=0&interval=1';
    const { genesis } = openEmbedded([source])!.source;
    const store = await openStore({ data: followed, network: 'devnet', genesis });
    const stop = new AbortController();
    const following = store.follow(source, { follow: true, signal: stop.signal });
    await until(() => (store.fold.head?.height ?? 0) >= 29, 'blocks');
    const { message } = await failure(['rollback', '--to', 'height:3', '--data', followed], 'UNSUPPORTED', 1);
    assert.match(message, new RegExp(`is followed into the store, and would bring back .*; stop process ${process.pid} first`));
    const { code, stdout } = await unspentHere(['prune', '--data', followed, '--json']);
    assert.equal(code, 0, stdout);
    await failure(['prune', '--utxo-prune-depth', '3', '--data', followed], 'UNSUPPORTED', 1);
    stop.abort();
    await following;
    await store.close();
  });
});
