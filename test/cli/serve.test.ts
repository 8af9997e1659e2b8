/**
 * `serve` and the server of `start`, as a user runs them: where the page is, what
 * is kept, which port is taken, and how they stop.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/patience.ts';
import { document, failure, temporary } from './run.ts';
import { Running } from './running.ts';

const URL_LINE = /(http:\/\/127\.0\.0\.1:\d+\/)/;

interface Status {
  readonly tip: { readonly height: number };
  readonly projections: readonly string[];
  readonly following: {
    readonly state: string;
    readonly peer: string | null;
    readonly source_tip: { readonly height: number } | null;
    readonly rollbacks: readonly { readonly undone: number }[];
  };
}

async function get<T>(url: string, path: string): Promise<T> {
  const response = await fetch(`${url}api/v1/${path}`);
  assert.equal(response.status, 200, path);
  return (await response.json()) as T;
}

/** Asks again and again until the answer will do. */
async function getUntil<T>(url: string, path: string, isSo: (answer: T) => boolean): Promise<T> {
  return eventually(async () => {
    const answer = await get<T>(url, path);
    assert.ok(isSo(answer), `${path} says ${JSON.stringify(answer)}`);
    return answer;
  });
}

/** A port that somebody else has. */
async function takenPort(t: TestContext): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  t.after(() => other.close());
  return (other.address() as { port: number }).port;
}

const EXTRAS = ['index.policy', 'index.asset', 'index.datum', 'index.script', 'datums', 'scripts'];

describe('unspent serve', () => {
  it('serves a store as it is, and stops on Ctrl-C', async (t) => {
    const cwd = temporary();
    await document(['sync', '--source', 'devnet:?blocks=30&rollbacks=0'], { cwd });
    const serving = new Running(t, ['serve', '--port', '0'], cwd);
    const [, url] = await serving.says(URL_LINE);
    const { tip, following } = await get<Status>(url, 'status');
    assert.deepEqual([tip.height, following.state], [29, 'idle']);
    assert.match(await (await fetch(url)).text(), /<title>/);
    assert.match(await (await fetch(`${url}metrics`)).text(), /^unspent_tip_height 29$/m);
    const { message } = await failure(['sync', '--source', 'devnet:'], 'STORE_LOCKED', 1, { cwd });
    assert.match(message, /^process \d+ \(unspent serve, since .*\) has the store open and serves it at http:/);
    assert.ok(message.includes(url));
    const { code, stderr } = await serving.interrupt();
    assert.equal(code, 130, stderr);
    await assert.rejects(fetch(url));
    await document(['verify'], { cwd });
  });

  it('says in one document where it is', async (t) => {
    const cwd = temporary();
    await document(['sync', '--source', 'devnet:?blocks=3'], { cwd });
    const serving = new Running(t, ['serve', '--port', '0', '--json', '--quiet'], cwd);
    await serving.says(/\n}\n/);
    const told = JSON.parse(serving.out) as { url: string; network: string; point: { height: number } };
    assert.deepEqual([told.network, told.point.height], ['devnet', 2]);
    assert.equal((await fetch(`${told.url}health`)).status, 200);
    assert.equal((await serving.interrupt()).code, 130);
  });

  it('refuses what it cannot do', async (t) => {
    const cwd = temporary();
    await failure(['serve'], 'STORE_MISSING', 1, { cwd });
    await document(['sync', '--source', 'devnet:?blocks=3'], { cwd });
    const port = await takenPort(t);
    const { message } = await failure(['serve', '--port', String(port)], 'IO', 1, { cwd });
    assert.match(message, new RegExp(`port ${port} on 127.0.0.1 is taken`));
    await failure(['serve', '--server-port', String(port)], 'IO', 1, { cwd });
    await failure(['serve', '--port', '70000'], 'USAGE', 2, { cwd });
    await failure(['serve', '--host', '0.0.0.0', '--port', '0'], 'CONFIG', 3, { cwd });
  });
});

describe('the server of unspent start', () => {
  it('shows a devnet with everything that can be kept, its peer and its forks', async (t) => {
    const cwd = temporary();
    const first = new Running(t, ['start', '--port', '0'], cwd);
    const [, url] = await first.says(/page\s+open (http:\/\/127\.0\.0\.1:\d+\/) in a browser/);
    await first.remarks(/\d+ blocks up to \d+/);
    const { projections } = await get<Status>(url, 'status');
    for (const name of EXTRAS) assert.ok(projections.includes(name), name);
    await first.ask('fork 4', /4 blocks dropped/);
    const { following } = await getUntil<Status>(url, 'status', (status) => status.following.rollbacks.length > 0);
    assert.equal(following.state, 'following');
    assert.match(following.peer ?? '', /^n2n:\/\/127\.0\.0\.1:\d+$/);
    // A follower that is a block behind when the chain forks has one less to undo.
    assert.ok([1, 2, 3, 4].includes(following.rollbacks[0].undone), `${following.rollbacks[0].undone} blocks undone`);
    assert.ok((following.source_tip?.height ?? 0) >= 16);
    await first.ask('status', new RegExp(`page\\s+${url}`));
    const { code, stderr } = await first.interrupt();
    assert.equal(code, 130, stderr);
    await assert.rejects(fetch(url));

    // What was decided is not decided anew; without a server nothing is said of a page.
    const second = new Running(t, ['start', '--no-server', '--utxo-index-asset', 'false'], cwd);
    await second.remarks(/connected to/);
    await second.ask('status', /page\s+not served/);
    assert.doesNotMatch(second.out, URL_LINE);
    second.tell('quit');
    assert.equal((await second.end).code, 0);
    const { projections: kept } = await document<Status>(['status'], { cwd });
    assert.deepEqual(
      EXTRAS.filter((name) => !kept.includes(name)),
      ['index.asset'],
    );
    await document(['verify'], { cwd });
  });

  it('takes the next port when nobody asked for one, and only then', async (t) => {
    const [one, other] = [temporary(), temporary()];
    const first = new Running(t, ['start'], one);
    const [, url] = await first.says(URL_LINE);
    const second = new Running(t, ['start', '--quiet'], other);
    const [, next] = await second.says(URL_LINE);
    assert.notEqual(url, next);
    for (const each of [url, next]) assert.equal((await fetch(`${each}health`)).status, 200);
    const { port } = new URL(url);
    const { message } = await failure(['start', '--port', port], 'IO', 1, { cwd: temporary() });
    assert.match(message, /is taken.*--port N/);
    for (const each of [first, second]) each.tell('quit');
    assert.deepEqual([(await first.end).code, (await second.end).code], [0, 0]);
  });

  it('beside a source that was named, and in JSON', async (t) => {
    const cwd = temporary();
    const source = 'devnet:?blocks=25&interval=1';
    const args = ['start', '--source', source, '--data', join(cwd, 'named'), '--port', '0', '--json'];
    const running = new Running(t, args, cwd);
    const [, url] = await running.remarks(/to look at it, open (http:\/\/127\.0\.0\.1:\d+\/)/);
    const { following } = await getUntil<Status>(url, 'status', ({ tip }) => tip?.height >= 25);
    assert.equal(following.state, 'following');
    const { code, stdout } = await running.interrupt();
    assert.equal(code, 130);
    assert.ok((JSON.parse(stdout) as { point: { height: number } }).point.height >= 25);
  });
});
