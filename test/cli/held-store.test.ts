/**
 * Two processes on one store: commands of one are run by the other, which has
 * the store open, and write what they write where nobody has it open.
 */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { ANSWERED } from '../../src/cli/held/answered.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import { VERSION } from '../../src/util/version.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { until } from '../support/patience.ts';
import { document, ended, failure, type Result, start, temporary, unspentHere } from './run.ts';
import { Running } from './running.ts';

const SYNC = ['sync', '--source', 'devnet:?blocks=60&rollbacks=0', '--proofs-csmt', '--quiet'];

/** Times, sizes and what the engine estimates differ from run to run. */
const MEASURED = /"(seconds|bytes|rocksdb\.[\w-]+)": [^\n]*|(in )?[\d.]+m?s, [\d,]+ outputs\/s|in [\d.]+s/g;

function plain({ code, stdout, stderr }: Result): unknown {
  return { code, stdout: stdout.replaceAll(MEASURED, '*'), stderr };
}

interface Tx {
  readonly tx_hash: string;
  readonly valid: boolean;
}

interface Output {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly owner_addr: string;
}

/** A store that `serve` of another process has open. */
async function served(t: ConstructorParameters<typeof Running>[0], data: string): Promise<Running> {
  const serving = new Running(t, ['serve', '--port', '0', '--data', data], temporary());
  await serving.says(/page\s+http/);
  return serving;
}

describe('a store that another process has open', () => {
  const folder = temporary();
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
  let commands: readonly (readonly string[])[] = [];

  before(async () => {
    assert.equal((await unspentHere([...SYNC, '--data', data])).code, 0);
    const { txs } = await document<{ txs: readonly Tx[] }>(['query', 'block', 'height:59', '--data', data]);
    const made = txs.filter(({ valid }) => valid).at(-1)!;
    const { outputs } = await document<{ outputs: readonly Output[] }>(['query', 'tx', made.tx_hash, '--data', data]);
    const [{ tx_hash, output_index, owner_addr }] = outputs;
    commands = [
      ['status', '--json'],
      ['query', 'address', owner_addr, '--limit', '2', '--utxo-balances'],
      ['query', 'outpoint', `${'00'.repeat(32)}#0`, '--json'],
      ['digest'],
      ['root', '--json'],
      ['prove', 'outpoint', `${tx_hash}#${output_index}`],
      ['verify', '--json'],
      ['snapshot', 'export', join(folder, 'written-snapshot'), '--json'],
      ['changes', join(folder, 'written-changes')],
      ['cage', 'tokens'],
      // These change it.
      ['rollback', '--to', 'height:50', '--json'],
      ['rollback', '--to', 'nowhere'],
      ['prune', '--json'],
    ];
    cpSync(data, copy, { recursive: true });
  });

  test('answers every command as one that nobody has open', async (t) => {
    const wanted: unknown[] = [];
    for (const args of commands) wanted.push(plain(await unspentHere([...args, '--data', copy])));
    const serving = await served(t, data);
    for (const [i, args] of commands.entries()) {
      const other = args.map((arg) => arg.replace('/written-', '/rewritten-'));
      const said = await unspentHere([...other, '--data', data]);
      const stdout = said.stdout.replaceAll(data, copy).replaceAll('/rewritten-', '/written-');
      assert.deepEqual(plain({ ...said, stdout }), wanted[i], args.join(' '));
    }
    assert.deepEqual(readFileSync(join(folder, 'rewritten-changes')), readFileSync(join(folder, 'written-changes')));
    const isRun = (path: string): boolean => commands.some((args) => args.join(' ').startsWith(path));
    // A backup is named by its time: backup.test.ts makes some of a store in use. This one has no records of transactions:
    // test/txstore/chain/surface.test.ts asks a store that has.
    assert.deepEqual(
      ANSWERED.filter((path) => !isRun(path)),
      ['backup', 'txs status', 'txs get', 'txs blocked', 'txs verify'],
      'every one of them',
    );
    for (const args of [
      ['publish', '--to', 'postgres://nobody@127.0.0.1:1/x'],
      ['compact'],
      ['sync', ...SYNC.slice(1)],
      ['txs', 'prune'],
    ]) {
      const { message } = await failure([...args, '--data', data], 'STORE_LOCKED', 1);
      assert.match(message, /^process \d+ \(unspent serve, since .*\) has the store open and serves it at http:\S+; this command needs it/);
    }
    const { code } = await serving.interrupt();
    assert.equal(code, 130);
    assert.deepEqual(readdirSync(data).sort(), ['db', 'rollbacks.json', 'unspent.json'], 'nothing is left of the socket');
    const at = async (store: string): Promise<unknown> => plain(await unspentHere(['digest', '--data', store]));
    assert.deepEqual(await at(data), await at(copy), 'and the store is what the commands made of it');
  });

  test('is for its owner alone, and of a process that was killed is opened as before', async (t) => {
    const serving = await served(t, data);
    const control = join(data, 'control');
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    assert.deepEqual([mode(control), mode(join(control, 'socket'))], ['700', '600']);
    if (process.getuid?.() === 0) {
      chmodSync(folder, 0o755);
      const script = `require('net').connect(${JSON.stringify(join(control, 'socket'))}).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`;
      const other = await ended(start(['-e', script], { bin: process.execPath, cwd: '/', uid: 65_534, gid: 65_534 }));
      assert.equal(other.stdout, 'EACCES\n', other.stderr);
    }
    await serving.kill();
    assert.ok(existsSync(join(control, 'socket')), 'nobody has removed it');
    const { code, stderr } = await unspentHere(['status', '--data', data]);
    assert.equal(code, 0);
    assert.match(stderr, /^process \d+ \(since .*\) ended without closing the store/);
    assert.ok(!existsSync(control));
  });

  test('of another version is not asked, and of one that goes away not answered: both are named', async (t) => {
    const other = join(folder, 'other');
    cpSync(data, other, { recursive: true });
    mkdirSync(join(other, 'control'));
    const greeting = { unspent: '0.0.1', process: 4711, since: 'then', holder: 'unspent start', url: 'http://127.0.0.1:1/' };
    const listener = createServer((socket) => {
      socket.write(`${JSON.stringify(greeting)}\n`);
      socket.on('data', () => socket.destroy()).on('error', () => {});
    }).listen(join(other, 'control', 'socket'));
    t.after(() => listener.close());
    const { message } = await failure(['status', '--data', other], 'STORE_LOCKED', 1);
    assert.match(message, /^process 4711 \(unspent start, since then\).* at http:\/\/127.0.0.1:1\/; it is unspent 0\.0\.1, and this is \d/);
    greeting.unspent = VERSION;
    const gone = await failure(['status', '--data', other], 'CLOSED', 1);
    assert.equal(gone.message, 'process 4711, which had the store open, ended before the command did; run it again');
  });
});

describe('a command that another process runs', () => {
  test('ends with whoever asked, and fails where whoever runs it closes the store', async (t) => {
    const folder = temporary();
    const data = join(folder, 'data');
    const store = await openStore({ data, network: 'bitcoin-regtest', config: loadConfig({}).config });
    const { raw, height } = new PlainChain(11).mine();
    store.fold.apply([store.network.ledger.decode(raw, height)]);
    await store.close();
    const serving = await served(t, data);
    let connections = 0;
    let closed = 0;
    // A node that never answers.
    const node = createServer((socket) => {
      connections++;
      socket
        .resume()
        .on('error', () => {})
        .on('close', () => closed++);
    }).listen(0, '127.0.0.1');
    t.after(() => node.close());
    await new Promise((resolve) => node.once('listening', resolve));
    const url = `rpc://u:p@127.0.0.1:${(node.address() as { port: number }).port}`;
    const ask = (): Running => new Running(t, ['verify', '--node', url, '--data', data], folder);

    const cancelled = ask();
    await until(() => connections === 1, 'the command is at work');
    await cancelled.interrupt();
    await until(() => closed === 1, 'the command has ended over there');

    const left = ask();
    await until(() => connections === 2, 'the next command is at work');
    const closing = serving.interrupt();
    const { code, stderr } = await left.end;
    assert.equal(code, 1);
    assert.match(stderr, /^unspent: process \d+ is closing the store\./);
    assert.equal((await closing).code, 130);
  });
});
