/**
 * Publishers of copies in PostgreSQL, killed at every statement and at random
 * moments, servers killed in the middle of a commit (fsync is on), two publishers
 * that fight, in both forms, while a reader looks. UNSPENT_CAMPAIGN_KILLS: those
 * at random moments, of each form (40 unless said); UNSPENT_CAMPAIGN_SERVERS:
 * those of servers (20).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DURABLE, KillCampaign, killsOf } from '../support/publish/kill-campaign.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 17);
const KILLS = Number(process.env['UNSPENT_CAMPAIGN_KILLS'] ?? 40);
const SERVERS = Number(process.env['UNSPENT_CAMPAIGN_SERVERS'] ?? 20);

for (const form of ['columns', 'sql'] as const)
  test(`kills of publishers and servers, ${form}`, { skip: withoutPostgres }, async (t) => {
    const server = await PostgresServer.start(async () => {}, DURABLE);
    t.after(() => server.stop());
    const folder = mkdtempSync(join(tmpdir(), 'unspent-kills-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const report = await KillCampaign.run(server, { form, seed: SEED, folder, stride: 1, random: KILLS, servers: SERVERS, fights: 10 });
    t.diagnostic(JSON.stringify(report));
    assert.ok(killsOf(report) >= KILLS + SERVERS);
  });
