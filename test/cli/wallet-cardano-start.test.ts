/** `start` on a Cardano devnet opens with a wallet: it is fed, shown over HTTP, and its coins are chosen by the parameters of the devnet. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { SelectionJson } from '../../src/wallet/cardano/payment.ts';
import type { WalletBalanceJson } from '../../src/wallet/documents.ts';
import { until } from '../support/patience.ts';
import { temporary } from './run.ts';
import { Running } from './running.ts';

it('start makes a demo wallet on the devnet, and feeds it', async (t) => {
  const directory = temporary();
  const started = new Running(t, ['start', '--network', 'devnet', '--port', '0', '--data', join(directory, 'data')], directory);
  const [, url, token] = await started.says(/wallet +open (http:\S+)#wallet-token=(\w+)/);
  const [, address] = await started.says(/query address (addr_test1\w+)/);
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${url}api/v1/wallets/demo${path}`, { headers, ...post })).json() as Promise<T>;
  };
  const total = async (): Promise<bigint> => BigInt((await ask<{ balance: WalletBalanceJson }>('')).balance.total);
  await until(async () => (await total()) >= 10_000_000_000n, 'the wallet has its coin');
  const chosen = await ask<SelectionJson>('/selections', { outputs: [{ address, amount: '2000000' }] });
  assert.equal(chosen.change[0].address, address);
  assert.ok(BigInt(chosen.fee) > 155_381n && chosen.inputs.length > 0);
  assert.equal((await started.interrupt()).code, 130);
});
