/**
 * The walk of docs/wallets.md with wallets elsewhere: the chain and its server are
 * in this process, and `wallet follow` is another, which is fed over the socket
 * alone. What it has is what the chain says, also when the server was away.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openNetworkSource } from '../../src/families/open-source.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { blocksOf } from '../docs/page-blocks.ts';
import { until } from '../support/patience.ts';
import { MNEMONIC, RegtestAccount } from '../support/regtest-account.ts';
import { temporary, unspentHere } from './run.ts';
import { Running } from './running.ts';

const TOKEN = 'of-the-server';
const SETTINGS = ['utxo.history=true', `server.token=${TOKEN}`];

/** A chain that is followed over P2P, its store, and its server, which may be away. */
class FollowedServer {
  readonly account = new RegtestAccount(77);
  readonly chain = this.account.chain;
  readonly #store: OpenStore;
  #served: Served | null = null;
  #port = 0;

  private constructor(store: OpenStore) {
    this.#store = store;
  }

  static async open(t: TestContext, directory: string): Promise<FollowedServer> {
    const { config } = loadConfig({ flags: { set: SETTINGS }, env: {} });
    const store = await openStore({ data: join(directory, 'node'), network: 'bitcoin-regtest', config });
    const all = new FollowedServer(store);
    const { chain, account } = all;
    chain.mine(102);
    chain.fund(account.script(0, 0), 400_000n);
    chain.mine();
    const p2p = await serveP2p(chain, { port: 0 });
    const end = new AbortController();
    const source = openNetworkSource([`p2p://127.0.0.1:${p2p.port}`], store.network, { onPeer: () => {} });
    const following = store.follow(source, { follow: true, signal: end.signal });
    t.after(async () => {
      end.abort();
      await all.stop();
      await following;
      await p2p.close();
      await store.close();
    });
    await all.start();
    await until(() => store.fold.head?.height === chain.height, 'the store has the chain');
    return all;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#served = await serve(this.#store, { port: this.#port, thread: false });
    this.#port = Number(new URL(this.#served.url).port);
  }

  async stop(): Promise<void> {
    await this.#served?.close();
    this.#served = null;
  }
}

interface Balance {
  readonly total: string;
  readonly confirmed: string;
  readonly synced_to: { readonly height: number } | null;
}

/** As a shell would take it: variables filled in, remarks and quotes off; files are in the directory. */
function operandsOf(line: string, variables: Readonly<Record<string, string>>, directory: string): string[] {
  const command = line.replace(/\s+#.*$/, '').replace(/^unspent /, '');
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => {
    const text = (quoted ?? plain).replace(/\$([A-Z]+)/g, (_all, name: string) => variables[name] ?? assert.fail(name));
    return /^\.\/|\.(psbt|txt)$/.test(text) ? join(directory, text) : text;
  });
}

describe('wallets of which the chain is on another machine', () => {
  it('are made, followed, paid from and rescanned as docs/wallets.md shows', async (t) => {
    const directory = temporary();
    const server = await FollowedServer.open(t, directory);
    const { account, chain } = server;
    const settings = join(directory, 'unspent.toml');
    const [toml, commands] = blocksOf('docs/wallets.md').filter(({ how }) => how === 'by test/cli/wallet-follow.test.ts');
    writeFileSync(settings, toml.text.replace('http://node.example:8437', server.url).replace('its server.token', TOKEN));
    writeFileSync(join(directory, 'words.txt'), MNEMONIC);
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await unspentHere([...args, '--config', settings]);
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    const shop = join(directory, 'shop');
    const balance = async () => JSON.parse(await run('wallet', 'balance', 'shop', '--data', shop, '--json')) as Balance;
    const isAt = async (height: number) => (await balance()).synced_to?.height === height;

    const variables = { DESCRIPTOR: account.descriptor, PAYEE: account.address(0, 900) };
    let follower: Running | null = null;
    for (const line of commands.text.trim().split('\n')) {
      const args = operandsOf(line, variables, directory);
      if (args[1] === 'follow') {
        follower = new Running(t, [...args, '--config', settings], directory);
        await follower.says(/height 103/);
      } else await run(...args);
      if (args[1] === 'create') assert.equal((await balance()).total, '400000', 'its past is found over HTTP');
      if (args[1] !== 'broadcast') continue;
      chain.mine();
      await until(() => isAt(chain.height), 'the follower has brought the block');
    }
    assert.ok(follower !== null);
    const confirmed = BigInt((await balance()).confirmed);
    assert.ok(confirmed > 249_000n && confirmed < 250_000n, `${confirmed} are left of 400000 after paying 150000`);

    const { code: refused, stderr } = await unspentHere(['wallet', 'balance', 'shop', '--data', shop, '--network', 'bitcoin']);
    assert.match(stderr, /fed with bitcoin-regtest, and this is bitcoin\b/);
    assert.equal(refused, 1);

    await server.stop();
    await follower.remarks(/not fed, and that is tried again/);
    chain.fork(2);
    chain.fund(account.script(0, 5), 30_000n);
    chain.mine();
    await server.start();
    await until(() => isAt(chain.height), 'it goes on where it was');
    assert.equal(BigInt((await balance()).total), confirmed + 30_000n);

    const { code } = await follower.interrupt('SIGTERM');
    assert.equal(code, 0, 'SIGTERM is how it is meant to end');
  });

  it('say what is wrong with a server, and change nothing', async (t) => {
    const directory = temporary();
    const answers: Record<string, unknown> = { version: '1.0.0', network: 'bitcoin', shapes: ['esplora', 'mempool-stream'] };
    const old = createServer((_request, response) => response.end(JSON.stringify(answers)));
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    t.after(() => old.close());
    const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
    const refused = async (expected: RegExp, exit: number, ...args: string[]): Promise<void> => {
      const { code, stderr } = await unspentHere(['wallet', ...args, '--data', join(directory, 'wallets')]);
      assert.match(stderr, expected);
      assert.equal(code, exit, stderr);
    };
    const account = new RegtestAccount(1);
    const create = ['create', 'shop', account.descriptor];
    await refused(/which network/, 2, ...create);
    await refused(/URL of a server/, 2, ...create, '--server', 'node.example');
    await refused(/token, not a name/, 2, ...create, '--server', url.replace('//', '//name:password@'));
    const onRegtest = [...create, '--network', 'bitcoin-regtest', '--server', url];
    await refused(/follows bitcoin\b/, 1, ...onRegtest);
    answers['network'] = 'bitcoin-regtest';
    const feed = ['sync', '--network', 'bitcoin-regtest', '--server', url];
    await refused(/unspent 1\.0\.0, .*script-history.*upgrade/, 1, ...feed);
    delete answers['shapes'];
    await refused(/not a server of unspent/, 1, ...feed);
    const elsewhere = ['--wallet-database', `sqlite:${join(directory, 'cardano.sqlite')}`];
    await refused(/beside their store only/, 1, 'follow', '--network', 'preview', '--server', url, ...elsewhere);
  });
});
