/** The database of wallets behind a server that has failed for good is opened anew, and not for every request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerContext } from '../../../src/server/context.ts';
import { WalletAccess } from '../../../src/server/wallets/wallet-access.ts';
import { UnspentError } from '../../../src/util/errors.ts';

test('a failed database of wallets is opened anew with the next request', async () => {
  let [opened, closed, refusals] = [0, 0, 0];
  const stores: { isHealthy: boolean }[] = [];
  const open = async () => {
    if (refusals-- > 0) throw new UnspentError('DATABASE_BUSY', 'not yet');
    opened++;
    const store = {
      isHealthy: true,
      close: async () => {
        closed++;
        throw new UnspentError('DATABASE_FAILED', 'it is gone');
      },
    };
    stores.push(store);
    return { store, notation: {} };
  };
  const server = { config: { data: '/nowhere', wallet: { database: 'sqlite:x' } }, network: { family: { wallets: { open } } } };
  const access = new WalletAccess(server as unknown as ServerContext);
  const reply = { code: () => reply, header: () => reply, send: (text: string) => text };
  const ask = () => access.answer(reply as never, async ({ store }) => stores.indexOf(store as never));
  assert.deepEqual([await ask(), await ask(), opened], ['0', '0', 1]);
  stores[0].isHealthy = false;
  refusals = 1;
  await assert.rejects(ask(), { code: 'DATABASE_BUSY' });
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['1', '1', '1']);
  assert.deepEqual([opened, closed], [2, 1]);
});
