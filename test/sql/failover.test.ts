/**
 * A primary dies under wallets and the transaction store, and its synchronous
 * standby takes over: nothing that was acknowledged is lost, nothing happens
 * twice, and every client goes on by itself. Longer: test/campaign/failover.campaign.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failOverUnderLoad } from '../support/sql/failover.ts';
import { PostgresPair } from '../support/sql/postgres-pair.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';
import { makeTxSchema } from '../txstore/sql/databases.ts';
import { makeWalletSchema } from '../wallet/sql/wallet-files.ts';

describe('PostgreSQL that fails over', { skip: withoutPostgres }, () => {
  it('loses nothing of wallets and records, repeats nothing, and is found again', async () => {
    const pair = await PostgresPair.start(makeWalletSchema);
    try {
      const [wallets, records, copy] = [await pair.freshUrl(), await pair.unusedUrl(), await pair.unusedUrl()];
      await makeTxSchema(records);
      const report = await failOverUnderLoad(pair, { wallets, records, copy }, { feeders: 2, lessees: 2, before: 6, behind: 6 });
      assert.ok(report.repeated > 0, 'calls were under way when the primary died');
    } finally {
      await pair.stop();
    }
  });
});
