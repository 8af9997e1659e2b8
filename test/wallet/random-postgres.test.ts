/** W83 on PostgreSQL: random lives beside the model, longer ones than on SQLite, because a new one costs more here. */
import { after, describe, it } from 'node:test';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runRandomWallets } from './random.ts';
import { liveInThread } from './sql/random-thread.ts';
import { makeWalletSchema } from './sql/wallet-files.ts';

if (withoutPostgres) {
  describe('wallets: PostgreSQL', () => it('lives beside the model', { skip: withoutPostgres }, () => {}));
} else {
  const server = await PostgresServer.start(makeWalletSchema);
  after(() => server.stop());

  runRandomWallets('PostgreSQL', async (lives) => liveInThread(await server.freshUrl(), lives), {
    events: 20_000,
    length: 160,
    compareEvery: 80,
    parts: 4,
  });
}
