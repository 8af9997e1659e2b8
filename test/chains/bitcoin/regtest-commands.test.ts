/**
 * The regtest chain as a user runs it: `start --network bitcoin-regtest` shows
 * blocks, a fork and an address with coins, over the API too, and goes on after
 * a stop; `devnet --network bitcoin-regtest` serves it to followers.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { document, failure, temporary } from '../../cli/run.ts';
import { Running } from '../../cli/running.ts';
import { until } from '../../support/patience.ts';

const START = ['start', '--network', 'bitcoin-regtest', '--port', '0'];

async function get<T>(url: string, headers: Readonly<Record<string, string>> = {}): Promise<T> {
  const response = await fetch(url, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, `${url}: ${text}`);
  return JSON.parse(text) as T;
}

/** The wallet, through the link that was printed: paid, a payment that was replaced once, and that lost its block and has one again. */
async function wasShownDemoWallet(start: Running, cwd: string): Promise<void> {
  const [, page, token] = await start.says(/wallet\s+open (http:\/\/127\.0\.0\.1:\d+\/)#wallet-token=(\S+)\n/);
  const ask = <T>(path: string): Promise<T> => get<T>(`${page}api/v1/wallets/demo${path}`, { authorization: `Bearer ${token}` });
  type Entry = {
    readonly txid: string;
    readonly block: object | null;
    readonly group: { readonly replacements: readonly object[] } | null;
  };
  const replaced = async (): Promise<Entry | undefined> =>
    (await ask<{ transactions: Entry[] }>('/transactions?grouped=true')).transactions.find(({ group }) => group !== null);
  await until(async () => (await replaced()) !== undefined, 'the demo wallet has replaced its payment');
  type Reorg = { readonly transactions: readonly { readonly txid: string; readonly now: { readonly block: object | null } }[] };
  const cameBack = async (): Promise<boolean> => {
    const { txid } = (await replaced())!;
    const { reorgs } = await ask<{ reorgs: Reorg[] }>('/reorgs');
    return reorgs.some(({ transactions }) => transactions.some((tx) => tx.txid === txid && tx.now.block !== null));
  };
  await until(cameBack, 'the payment has lost its block, and has one again');
  await until(async () => (await ask<{ leases: object[] }>('/leases')).leases.length > 0, 'a coin is reserved');
  const { history } = await document<{ history: object[] }>(['wallet', 'history', 'demo', '--data', join(cwd, 'data')]);
  assert.ok(history.length >= 4);
}

describe('unspent start --network bitcoin-regtest', () => {
  it('shows blocks, a fork, coins, and both kinds of server; goes on after a stop', async (t) => {
    const cwd = temporary();
    const first = new Running(t, START, cwd);
    const [, api] = await first.says(/esplora\s+(http:\/\/127\.0\.0\.1:\d+\/api)\n/);
    await first.says(/electrum\s+127\.0\.0\.1:\d+ \(TCP/);
    const [, address] = await first.says(/try\s+query address (bcrt1\S+)/);
    // A busy machine makes one line of several blocks.
    await first.remarks(/\d+ blocks up to \d+: /);
    await first.remarks(/block \d+: |blocks up to \d+: [\s\S]*blocks up to \d+: /);
    await first.ask(`query address ${address}`, /3\.00000000 [\s\S]*unspent outputs worth 3\.2/);
    await first.ask('fork 4', /4 blocks dropped, back to height \d+; the tip is height \d+, block [0-9a-f]{64}/);
    await first.remarks(/rollback: \d blocks? undone, back at height/);
    await first.ask('status', /peer\s+p2p:\/\/127\.0\.0\.1:\d+, following \(P2P \d+\)/);
    await first.ask('digest', /^[0-9a-f]{64}\n\d+ unspent outputs/m);
    await first.ask('send 00', /cannot: TX decode failed/);
    await first.ask('fund nowhere 1000', /cannot: expected an address/);
    await first.ask(`fund ${address} many`, /cannot: an amount is a whole number of satoshi/);

    const [, txid] = await first.ask(`fund ${address} 7654321`, /0\.07654321 BTC to bcrt1\S+ in transaction ([0-9a-f]{64})/);
    type Row = { readonly txid: string; readonly value: number; readonly status: { readonly confirmed: boolean } };
    const row = async (): Promise<Row | undefined> =>
      (await get<Row[]>(`${api}/address/${address}/utxo`)).find((utxo) => utxo.txid === txid);
    await until(async () => (await row())?.status.confirmed === true, 'the payment is in a block');
    const { value, status } = (await row())!;
    assert.deepEqual([value, status.confirmed], [7_654_321, true]);
    const { tx_count: seen } = (await get<{ chain_stats: { tx_count: number } }>(`${api}/address/${address}`)).chain_stats;
    assert.ok(seen >= 4);
    await wasShownDemoWallet(first, cwd);
    const { code, stderr } = await first.interrupt();
    assert.equal(code, 130);
    const [, height] = /stopped at height (\d+)/.exec(stderr)!;

    // The store knows which chain it is of.
    const second = new Running(t, ['start', '--no-server'], cwd);
    const [, grown] = await second.remarks(/(?:block|up to) (\d+): /);
    assert.ok(Number(grown) > Number(height), `${grown} after ${height}`);
    second.tell('quit');
    assert.equal((await second.end).code, 0);
    await document(['verify'], { cwd });

    rmSync(join(cwd, 'data', 'regtest.journal'));
    await failure(START, 'SOURCE_FORK', 1, { cwd });
  });
});

describe('unspent devnet --network bitcoin-regtest', () => {
  const DEVNET = ['devnet', '--network', 'bitcoin-regtest', '--port', '0', '--interval', '0'];

  it('answers its control, and a follower ends up with its digest', async (t) => {
    const cwd = temporary();
    const devnet = new Running(t, [...DEVNET, '--blocks', '110', '--journal', 'journal'], cwd);
    const [, url] = await devnet.says(/(p2p:\/\/127\.0\.0\.1:\d+)/);
    const [, address] = await devnet.says(/guest\s+(bcrt1\S+)/);
    await devnet.ask('mine 20', /mined; the tip is height 130, block [0-9a-f]{64}/);
    await devnet.ask(`fund ${address} 100000000`, /1\.00000000 BTC to bcrt1/);
    await devnet.ask('fork 5', /5 blocks dropped, back to height 125; the tip is height 131/);
    await devnet.ask('pause', /paused/);
    await devnet.ask('resume', /blocks come by `mine N`/);
    await devnet.ask('fork 1000', /cannot: the depth/);
    const [, digest] = await devnet.ask('status', /digest ([0-9a-f]{64})/);
    await document(['sync', '--source', url, '--network', 'bitcoin-regtest'], { cwd });
    const found = await document<{ digest: string }>(['digest'], { cwd });
    assert.equal(found.digest, digest);
    await document(['verify'], { cwd });
    devnet.tell('quit');
    assert.equal((await devnet.end).code, 0);

    const again = new Running(t, [...DEVNET, '--journal', 'journal', '--json'], cwd);
    await again.says(/\n}\n/);
    assert.equal((JSON.parse(again.out) as { tip: { height: number } }).tip.height, 131);
    assert.equal((await again.interrupt()).code, 130);
  });

  it('refuses what it does not understand', async () => {
    for (const flags of [
      ['--socket', 'x'],
      ['--interval', 'x'],
      ['--seed', '-1'],
      ['--blocks', '1.5'],
      ['--port', '70000'],
    ]) {
      await failure([...DEVNET, ...flags], 'USAGE', 2, { cwd: temporary() });
    }
  });
});
