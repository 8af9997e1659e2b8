/**
 * Failovers under load, over and over: UNSPENT_CAMPAIGN_FAILOVERS pairs of
 * PostgreSQL servers (20 unless said), each with its primary killed at another
 * moment while six clients write and a publisher keeps a copy.
 */
import { test } from 'node:test';
import { type FailoverReport, failOverUnderLoad } from '../support/sql/failover.ts';
import { PostgresPair } from '../support/sql/postgres-pair.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';
import { makeTxSchema } from '../txstore/sql/databases.ts';
import { makeWalletSchema } from '../wallet/sql/wallet-files.ts';

const FAILOVERS = Number(process.env['UNSPENT_CAMPAIGN_FAILOVERS'] ?? 20);

test('failovers under load', { skip: withoutPostgres }, async (t) => {
  const reports: FailoverReport[] = [];
  for (let n = 0; n < FAILOVERS; n++) {
    const pair = await PostgresPair.start(makeWalletSchema);
    try {
      const [wallets, records, copy] = [await pair.freshUrl(), await pair.unusedUrl(), await pair.unusedUrl()];
      await makeTxSchema(records);
      const load = { feeders: 2, lessees: 3, before: 40 + 7 * (n % 10), behind: 60 };
      reports.push(await failOverUnderLoad(pair, { wallets, records, copy }, load));
    } finally {
      await pair.stop();
    }
  }
  const sum = (value: (report: FailoverReport) => number): number => reports.reduce((total, report) => total + value(report), 0);
  const worst = (value: (report: FailoverReport) => number): number => Math.round(Math.max(...reports.map(value)));
  t.diagnostic(
    JSON.stringify({
      failovers: reports.length,
      blocks: sum(({ blocks }) => blocks),
      leases: sum(({ leases }) => leases),
      records: sum(({ records }) => records),
      published: sum(({ published }) => published),
      repeated: sum(({ repeated }) => repeated),
      unanswered: sum(({ unanswered }) => unanswered),
      promotedMsMax: worst(({ promotedMs }) => promotedMs),
      answeredMsMax: worst(({ answeredMs }) => answeredMs),
    }),
  );
});
