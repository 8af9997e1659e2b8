/**
 * No call reads a whole table: every statement that the store sends is explained,
 * by PostgreSQL in a database with many rows, by SQLite with the statistics that
 * its databases are made with, whatever is in them. What is read from beginning
 * to end may be lists that came with the statement, and tables with a row for
 * each wallet. Nor does PostgreSQL start processes for any of them.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PLANNED_ONCE } from '../../../src/sql/postgres-pool.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { idOf, NOW, outpointOf, scriptOf } from '../support/world.ts';
import { emptyDatabase } from './empty.ts';
import { EVERY_CALL, type StoryStore, tellStory } from './every-call.ts';

const READS: readonly ((story: StoryStore) => Promise<unknown>)[] = [
  ({ store }) => store.listSyncedBlocks(5, 6),
  ({ store, world }) => store.getAddress(world.wallet, scriptOf(1, 0)),
  ({ store, world }) => store.resolveOwned(world.wallet, [scriptOf(1, 0)]),
  ({ store, world }) => store.givenForChange(world.wallet, [scriptOf(1, 0)]),
  ({ store, world }) => store.listAddresses(world.wallet, { after: scriptOf(1, 0), limit: 3 }),
  ({ store }) => store.findTouched([scriptOf(1, 0)], [outpointOf('coin:0')]),
  ({ store }) => store.watchedAccounts('chain', 3),
  ({ store }) => store.listInMempool(),
  ({ store, world }) => store.getTx(world.wallet, idOf('pay')),
  ({ store, world }) => store.getTxDetail(world.wallet, idOf('pay')),
  ({ store, world }) => store.listTxs(world.wallet, 'unmined'),
  ({ store, world }) => store.listUnmined(world.wallet),
  ({ store, world }) => store.listTxs(world.wallet, { from: 5, to: 6 }),
  ({ store, world }) => store.listTxDetails(world.wallet, 6, 5),
  ({ store, world }) => store.history(world.wallet, { after: idOf('pay'), limit: 3 }),
  ({ store, world }) => store.history(world.wallet, { after: idOf('coin'), limit: 3 }),
  ({ store, world }) => store.history(world.wallet, { after: idOf('pay'), limit: 3, withoutReplaced: true }),
  ({ store, world }) => store.listReplacements(world.wallet, [idOf('old')]),
  ({ store, world }) => store.replacementChain(world.wallet, idOf('old')),
  ({ store, world }) => store.getCoin(world.wallet, outpointOf('spare:0'), NOW),
  async ({ store, world }) => {
    const [first] = await store.listCoins(world.wallet, { now: NOW }, { limit: 1 });
    return store.listCoins(world.wallet, { now: NOW, minConfs: 1 }, { after: first, limit: 1 });
  },
  // The second reads again what has changed since the first.
  async (story) => {
    await choose(story);
    await story.world.create('after the first', { spends: ['spare:0'] });
    await choose(story);
  },
  ({ store, world }) => store.balance(world.wallet, { now: NOW }),
  ({ store, world }) => store.balance(world.wallet, { now: NOW, minConfs: 1 }),
  ({ store, world }) => store.listOutputsToWatch(world.wallet),
  ({ store, world }) => store.listLeases(world.wallet, NOW),
  ({ store, world }) => store.listEvents(3, 5, world.wallet),
  ({ store, world }) => store.listLabels(world.wallet, { after: { type: 'tx', ref: 'x', origin: '' }, limit: 3 }),
  ({ store }) => store.listEvents(3, 5),
  ({ store }) => store.eventRange(),
  ({ store, world }) => store.listReorgs(world.wallet, { after: 5, limit: 3 }),
];

const choose = ({ store, world }: StoryStore): Promise<unknown> =>
  store.selectAndLease(world.wallet, { now: NOW }, () => ({ coins: [] }), { id: idOf('nothing'), now: NOW, durationMs: 1 });

/** The text of every statement with parameters that the calls send. */
async function statementsOf(url: string): Promise<string[]> {
  const texts = new Set<string>();
  const store = await openWalletStore(url, { isDurable: false, beforeStatement: (sql) => void (/[?$]/.test(sql) && texts.add(sql)) });
  for (const [, call] of EVERY_CALL) {
    await emptyDatabase(url);
    await call(await tellStory(store));
  }
  await emptyDatabase(url);
  const story = await tellStory(store);
  for (const read of READS) await read(story);
  await store.close();
  return [...texts];
}

/** Rows that nothing checks, as many of each kind, of so many wallets. */
const ROWS = 100_000;
const WALLETS = 20;

function fillStatements(): string[] {
  const numbers = `WITH n (i) AS (SELECT generate_series(1, ${ROWS}))`;
  const hash = "decode(lpad(to_hex(i), 64, '0'), 'hex')";
  const wallet = `1 + i % ${WALLETS}`;
  return [
    `${numbers} INSERT INTO wallets (id, wallet_name, is_imported, manager_version, is_watch_only) SELECT i, 'w' || i, 0, 1, 1 FROM n WHERE i <= ${WALLETS}`,
    `${numbers} INSERT INTO wallet_sync_states (wallet_id) SELECT i FROM n WHERE i <= ${WALLETS}`,
    `${numbers} INSERT INTO blocks SELECT i, ${hash}, i FROM n`,
    `${numbers} INSERT INTO addresses (id, wallet_id, is_derived, script_pub_key, script_type_id, created_at) SELECT i, ${wallet}, 0, ${hash}, 4, 0 FROM n`,
    `${numbers} INSERT INTO derived_addresses SELECT i, ${wallet}, 1 + i / 1000, 0, i FROM n`,
    `${numbers} INSERT INTO transactions (id, wallet_id, tx_hash, raw_tx, tx_outputs, block_height, confirmed_order, tx_status, received_time, is_coinbase)
      SELECT i, ${wallet}, ${hash}, ${hash}, ${hash}, i / 10, i, 1, i, 0 FROM n`,
    `${numbers} INSERT INTO tx_inputs (id, wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index, holds_edge)
      SELECT i, ${wallet}, i, 0, ${hash}, 0, CASE WHEN i % 2 = 0 THEN 1 ELSE 0 END FROM n`,
    `${numbers} INSERT INTO utxos (id, wallet_id, tx_id, tx_hash, output_index, amount, address_id, spent_by_tx_id, spent_input_index)
      SELECT i, ${wallet}, i, ${hash}, 0, i, i, CASE WHEN i % 5 = 0 THEN NULL ELSE i END, CASE WHEN i % 5 = 0 THEN NULL ELSE 0 END FROM n`,
    `${numbers} INSERT INTO tx_replacements (id, wallet_id, replaced_tx_id, replacement_tx_id, created_at) SELECT i, ${wallet}, i, i + 1, 0 FROM n`,
    `${numbers} INSERT INTO wallet_labels (wallet_id, label_type, label_ref, label_origin, tx_hash, label_others, is_foreign) SELECT ${wallet}, 0, 'r' || i, '', ${hash}, '{}', 0 FROM n`,
    `${numbers} INSERT INTO wallet_events SELECT i, ${wallet}, '{}' FROM n`,
    'ANALYZE',
  ];
}

export function runPlans(databases: TestDatabases): void {
  describe(`wallets: plans of ${databases.name}`, () => {
    let texts: readonly string[] = [];
    let full = '';
    before(async () => {
      texts = await statementsOf(await databases.freshUrl());
      full = await databases.freshUrl();
      if (databases.name === 'PostgreSQL')
        await executeIn(full, ['SET session_replication_role = replica', ...fillStatements()].join('; '));
    });

    it('no statement reads a table from beginning to end', async () => {
      assert.ok(texts.length > 60, `${texts.length} statements`);
      const wrong: string[] = [];
      for (const text of texts) {
        const scans = databases.name === 'SQLite' ? await sqliteScans(full, text) : await postgresScans(full, text);
        if (scans.length > 0) wrong.push(`${scans.join(', ')}: ${text.replace(/\s+/g, ' ')}`);
      }
      assert.deepEqual(wrong, []);
    });
  });
}

/** A row for each wallet, or for each lease that is active; v, c, r are lists and what was found for them. */
const MAY_BE_READ = /^SCAN (json_each|v|c|r|branch|w|wallets|wallet_sync_states|l|utxo_leases|CONSTANT|\d+ CONSTANT|\(subquery)/;

async function sqliteScans(url: string, text: string): Promise<string[]> {
  const rows = await executeIn(url, `EXPLAIN QUERY PLAN ${text}`);
  const isList = text.includes('json_each');
  return rows
    .map(({ detail }) => String(detail))
    .filter((detail) => (detail.startsWith('SCAN') && !MAY_BE_READ.test(detail)) || (isList && OF_WHOLE_WALLET.test(detail)));
}

/** For each row of a list all rows of a wallet. */
const OF_WHOLE_WALLET = /^SEARCH .* \(wallet_id=\?\)$/;

/** PostgreSQL may join all coins of a wallet with a table as a whole, if it expects most rows to be of use. */
const WHOLE_WALLET = /FROM utxos u JOIN transactions t|from "utxos" as "u" inner join "transactions"|from "addresses" as "a" left join/;

const PAGE_OF_COINS = /^select "u"\."id".* limit \$\d+$/s;

/** Processes that share a statement cost nothing: whatever could be shared would be, if the connection did not refuse it. */
const WORKERS_ARE_FREE = ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size', 'min_parallel_index_scan_size'];

const LARGE = ['blocks', 'addresses', 'derived_addresses', 'transactions', 'tx_inputs', 'utxos', 'tx_replacements', 'wallet_events'];

async function postgresScans(url: string, text: string): Promise<string[]> {
  if (WHOLE_WALLET.test(text) && !text.includes('json_array_elements') && !PAGE_OF_COINS.test(text)) return [];
  const settings = [...WORKERS_ARE_FREE.map((cost) => `${cost}=0`), ...PLANNED_ONCE].map((setting) => `SET ${setting}; `).join('');
  const rows = await executeIn(url, `${settings}EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
  const scans: string[] = [];
  const isList = text.includes('json_array_elements');
  const walk = (plan: Readonly<Record<string, unknown>>): void => {
    const [type, condition] = [String(plan['Node Type']), plan['Index Cond']];
    if (type.startsWith('Gather')) scans.push('processes that are started for it');
    const isWholeWallet = isList && /^\(wallet_id = \$\d+\)$/.test(String(condition));
    const isWhole = type === 'Seq Scan' || (type.startsWith('Index') && condition === undefined) || isWholeWallet;
    if (isWhole && LARGE.includes(String(plan['Relation Name']))) scans.push(`${plan['Node Type']} of ${plan['Relation Name']}`);
    for (const below of (plan['Plans'] as readonly Readonly<Record<string, unknown>>[] | undefined) ?? []) walk(below);
  };
  const [plan] = rows[0]['QUERY PLAN'] as readonly { readonly Plan: Readonly<Record<string, unknown>> }[];
  walk(plan.Plan);
  return scans;
}
