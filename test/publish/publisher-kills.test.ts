/** Publishers killed as processes, and servers killed in a commit: the short form of test/campaign/publish-kills.campaign.ts. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TEST_SEED } from '../support/harness.ts';
import { DURABLE, KillCampaign, killsOf } from '../support/publish/kill-campaign.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

test('publishers and servers that are killed', { skip: withoutPostgres }, async (t) => {
  const server = await PostgresServer.start(async () => {}, DURABLE);
  t.after(() => server.stop());
  const folder = mkdtempSync(join(tmpdir(), 'unspent-kills-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const form of ['columns', 'sql'] as const) {
    const plan = { form, seed: TEST_SEED, folder, stride: form === 'sql' ? 17 : 13, random: 2, servers: 2, fights: 1 };
    const report = await KillCampaign.run(server, plan);
    t.diagnostic(JSON.stringify(report));
    assert.ok(killsOf(report) >= 9 && report.moments > 5, JSON.stringify(report));
  }
});
