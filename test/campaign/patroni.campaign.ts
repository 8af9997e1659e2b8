/**
 * A cluster of three servers that Patroni and etcd look after, whose leader is
 * lost over and over under load: its server killed, its whole node killed, its
 * lead handed over. UNSPENT_CAMPAIGN_FAILOVERS: how often (12 unless said).
 * What was lost comes back and follows before the next one goes.
 */
import { test } from 'node:test';
import { type FailoverReport, failOverUnderLoad } from '../support/sql/failover.ts';
import { LOSSES, PatroniCluster, withoutPatroni } from '../support/sql/patroni-cluster.ts';
import { makeTxSchema } from '../txstore/sql/databases.ts';
import { makeWalletSchema } from '../wallet/sql/wallet-files.ts';

const FAILOVERS = Number(process.env['UNSPENT_CAMPAIGN_FAILOVERS'] ?? 12);

test('failovers of a Patroni cluster under load', { skip: withoutPatroni() }, async (t) => {
  const cluster = await PatroniCluster.start(makeWalletSchema);
  t.after(() => cluster.stop());
  for (let n = 0; n < FAILOVERS; n++) {
    const loss = LOSSES[n % LOSSES.length];
    const [wallets, records, copy] = [await cluster.freshUrl(), await cluster.unusedUrl(), await cluster.unusedUrl()];
    await makeTxSchema(records);
    const servers = { failOver: () => cluster.failOver(loss), afterwards: (url: string) => cluster.afterwards(url) };
    const load = { feeders: 2, lessees: 3, before: 20 + 5 * n, behind: 30 };
    const report: FailoverReport = await failOverUnderLoad(servers, { wallets, records, copy }, load);
    t.diagnostic(JSON.stringify({ loss, ...report }));
    await cluster.mend();
  }
});
