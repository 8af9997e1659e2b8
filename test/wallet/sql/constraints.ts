/**
 * W48, W78: what the database itself refuses, whoever asks. Each constraint and
 * each trigger of the schema is broken once by a statement behind the back of
 * the store; PostgreSQL's catalogue says whether one was forgotten.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { CHILD_INDEX_MAX } from '../../../src/util/limits.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { idOf, NOW, World } from '../support/world.ts';
import { type ConstraintCase, constraintCases, SqlText } from './constraint-cases.ts';

export function runConstraints(databases: TestDatabases): void {
  describe(`wallets: what ${databases.name} refuses`, () => {
    const text = new SqlText(databases.name === 'SQLite' ? 'sqlite' : 'postgres');
    const cases = constraintCases(text);
    let url = '';
    before(async () => {
      url = await databases.freshUrl();
      await using _ = await refusingWorld(url, text);
    });

    for (const { name, kind, statement } of cases) {
      it(`${name.endsWith('fkey') ? 'W48' : wordOf(name)} ${name}: ${statement.replace(/\s+/g, ' ').slice(0, 100)}`, async () => {
        await assert.rejects(executeIn(url, statement), (error: Error & { readonly constraint?: string }) => {
          if (databases.name === 'PostgreSQL') assert.equal(error.constraint, name, error.message);
          else assert.match(error.message, SQLITE_WORDS[kind](name));
          return true;
        });
      });
    }

    if (databases.name === 'PostgreSQL') {
      it('W48 no constraint and no trigger is left out', async () => {
        const tested = new Set(cases.map(({ name }) => name));
        const rows = await executeIn(url, CATALOGUE);
        const missing = rows.map(({ name }) => String(name)).filter((name) => !tested.has(name));
        assert.deepEqual(missing, []);
      });
    }

    it('W48 whatever adds to what is watched raises its version', async () => {
      const statements = [
        "INSERT INTO wallets (wallet_name, is_imported, manager_version, is_watch_only) VALUES ('late', 0, 1, 1)",
        `INSERT INTO addresses (wallet_id, is_derived, script_pub_key, script_type_id, created_at) VALUES (1, 0, ${text.bytes(idOf('late'))}, 4, 0)`,
        "INSERT INTO accounts (wallet_id, scope_id, account_name, is_derived, created_at) SELECT 1, id, 'late', 0, 0 FROM key_scopes WHERE wallet_id = 1",
        "UPDATE accounts SET next_external_index = next_external_index + 1 WHERE account_name = 'late'",
      ];
      const read = async (): Promise<number> => Number((await executeIn(url, 'SELECT last_version FROM watch_counter'))[0]['last_version']);
      for (const statement of statements) {
        const before = await read();
        await executeIn(url, statement);
        assert.equal(await read(), before + 1, statement);
      }
      const [{ watch_version: of }] = await executeIn(url, "SELECT watch_version FROM accounts WHERE account_name = 'late'");
      assert.equal(Number(of), await read());
    });

    it('W48 an input holds an edge as long as a coin says so, whoever changes the coin', async () => {
      const other = await databases.freshUrl();
      await using _ = await refusingWorld(other, text);
      const held = async (): Promise<number[]> =>
        (await executeIn(other, `SELECT holds_edge FROM tx_inputs WHERE tx_id = ${text.tx('B')}`)).map((row) => Number(row['holds_edge']));
      const ofCoin = `WHERE id = ${text.coin('A')}`;
      assert.deepEqual(await held(), [1]);
      await executeIn(other, `UPDATE utxos SET spent_by_tx_id = spent_by_tx_id ${ofCoin}`);
      assert.deepEqual(await held(), [1], 'the same edge');
      await executeIn(other, `UPDATE utxos SET spent_by_tx_id = NULL, spent_input_index = NULL ${ofCoin}`);
      assert.deepEqual(await held(), [0], 'without an edge');
      await executeIn(other, `UPDATE utxos SET spent_by_tx_id = ${text.tx('B')}, spent_input_index = 0 ${ofCoin}`);
      assert.deepEqual(await held(), [1], 'with one');
      await executeIn(other, `DELETE FROM utxos ${ofCoin}`);
      assert.deepEqual(await held(), [0], 'without the coin');
      const bornSpent = `INSERT INTO utxos (wallet_id, tx_id, tx_hash, output_index, amount, address_id, spent_by_tx_id, spent_input_index)
        VALUES (1, ${text.tx('A')}, ${text.bytes(idOf('A'))}, 0, 5, ${text.address(1)}, ${text.tx('B')}, 0)`;
      await executeIn(other, bornSpent);
      assert.deepEqual(await held(), [1], 'with a coin that comes late');
    });

    it('a scope whose numbers are used up has none for another account', async () => {
      const other = await databases.freshUrl();
      await using world = await refusingWorld(other, text);
      await executeIn(other, `UPDATE key_scopes SET next_account_number = ${CHILD_INDEX_MAX} WHERE wallet_id = 1`);
      const make = (name: string, isDerived = true) => world.store.createAccount(world.wallet, { ...ACCOUNT, name, isDerived });
      assert.equal((await make('last')).number, CHILD_INDEX_MAX);
      await world.refused('ACCOUNT_NUMBER_MAX', () => make('too late'));
      assert.equal((await make('imported one', false)).number, null);
    });

    it('W47 a block row may be deleted: its transactions are unmined, its coinbase is orphaned', async () => {
      const other = await databases.freshUrl();
      await using world = await refusingWorld(other, text);
      await executeIn(other, 'UPDATE wallet_sync_states SET synced_height = NULL; DELETE FROM blocks WHERE block_height = 5');
      const states = await world.states();
      assert.ok(states.includes('C published') && states.includes('coinbase orphaned'), states.join(', '));
      const [{ txs }] = (await world.rows()).wallets;
      assert.ok(txs.every(({ height, confirmedOrder }) => height === null && confirmedOrder === null));
      const coins = await world.store.listCoins(world.wallet, { now: NOW });
      assert.equal(
        await world.total(),
        coins.reduce((sum, { amount }) => sum + amount, 0n),
        'and the sum of all coins without that of the coinbase',
      );
    });
  });
}

const ACCOUNT = { scope: { purpose: 84, coinType: 0 }, externalKind: 'p2wpkh', internalKind: 'p2wpkh', now: 0 } as const;

const SQLITE_WORDS: Readonly<Record<ConstraintCase['kind'], (name: string) => RegExp>> = {
  check: (name) => new RegExp(`CHECK constraint failed: ${name}$`),
  unique: () => /UNIQUE constraint failed/,
  'foreign key': () => /FOREIGN KEY constraint failed/,
  trigger: (name) => new RegExp(`^${name}: `),
};

/** W78: those that keep wallets apart. */
const ACROSS_WALLETS = [
  'funding_tx',
  'owner_address',
  'leased_utxo',
  'input_tx',
  'replaced_tx',
  'replacement_tx',
  'derived_address',
  'derived_account',
];
const wordOf = (name: string): string => (ACROSS_WALLETS.includes(name) || name.startsWith('edge_') ? 'W78' : 'W48');

/** A pair (wallet, id) is unique because the id is: it is there for references only. The triggers that are left out refuse nothing. */
const CATALOGUE = `SELECT conname AS name FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'u')
    AND conname NOT LIKE '%_wallet_id_id_key'
  UNION SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE indisunique AND c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
  UNION SELECT tgname FROM pg_trigger WHERE NOT tgisinternal 
    AND tgname NOT IN ('tx_disconnect', 'wallet_watched', 'account_watched', 'address_watched')
    AND tgname NOT LIKE 'total_%' AND tgname NOT LIKE 'edge_flag_%'`;

/** The story that the cases break (constraint-cases.ts). */
async function refusingWorld(url: string, text: SqlText): Promise<World> {
  const store = await openWalletStore(url, { isDurable: false });
  const world = await World.open(async () => ({ store, rows: () => store.rows(), close: () => store.close() }));
  await world.addWallet();
  const secret = new Uint8Array(8);
  const secrets = { masterParams: secret, cryptoPrivateKey: secret, cryptoScriptKey: null, masterPrivateKey: secret };
  const { id: spender } = await store.createWallet({ name: 'wallet 3', isWatchOnly: false, secrets });
  await store.createAccount(spender, { ...ACCOUNT, name: 'main', isDerived: true });
  await store.importAddress(spender, { script: idOf('imported'), kind: 'p2wpkh' }, 0);
  const block = await world.sync(5);
  await world.create('A', {
    pays: [
      { own: 0, amount: 5n },
      { own: 1, amount: 6n },
    ],
    credits: new Map([[0, null]]),
  });
  await world.create('F', {
    spends: ['A:0'],
    pays: [
      { own: 2, amount: 3n },
      { own: 3, amount: 1n },
    ],
    credits: new Map([[0, null]]),
  });
  await world.create('B', { spends: ['A:0'], pays: [{ other: 1, amount: 3n }], replace: true });
  await world.create('C', { block });
  await world.create('coinbase', { block });
  await world.create('G', { pays: [{ other: 1, amount: 3n }] });
  await world.create('Z', {
    walletId: world.wallets[1],
    pays: [{ script: (await store.listAddresses(world.wallets[1]))[0].script, amount: 4n }],
  });
  await world.lease('C:0');
  const input = (index: number, place: number): string =>
    `INSERT INTO tx_inputs (wallet_id, tx_id, input_index, prev_tx_hash, prev_output_index) VALUES (1, ${text.tx('G')}, ${index}, ${text.bytes(idOf('F'))}, ${place})`;
  const key = text.bytes(secret);
  await executeIn(
    url,
    [
      input(5, 0),
      input(6, 1),
      `INSERT INTO key_scope_secrets SELECT id, 3, ${key} FROM key_scopes WHERE wallet_id = 3`,
      `INSERT INTO account_secrets SELECT id, 3, ${key} FROM accounts WHERE wallet_id = 3`,
      `INSERT INTO address_secrets VALUES (${text.address(3)}, 3, ${key})`,
    ].join('; '),
  );
  return world;
}
