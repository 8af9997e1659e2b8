/**
 * What happens when a statement fails: W43 and W58 (nothing of the call stays,
 * whichever statement it is), W80 (transient failures are tried again), W81
 * (fatal ones make the store unhealthy), W79 (a damaged row is named).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isUnspentError } from '../../../src/util/errors.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { SqlWalletStore } from '../../../src/wallet/sql/store.ts';
import { copyOf } from '../../support/sql/copies.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { idOf, NOW } from '../support/world.ts';
import { emptyDatabase } from './empty.ts';
import { EVERY_CALL, resumeStory, type StoryStore, tellStory } from './every-call.ts';

/** Errors as the two drivers throw them, by what they mean. */
const FAILURES = {
  SQLite: { permanent: { errcode: 1 }, transient: { errcode: 5 }, fatal: { errcode: 13 } },
  PostgreSQL: { permanent: { code: '42601' }, transient: { code: '40001' }, fatal: { code: '53100' } },
} as const;

type FailureKind = keyof (typeof FAILURES)['SQLite'];

/** Fails statements of a store by their number. */
class StatementFaults {
  readonly #name: TestDatabases['name'];
  #left = Number.POSITIVE_INFINITY;
  #kind: FailureKind = 'permanent';
  #times = 0;

  constructor(name: TestDatabases['name']) {
    this.#name = name;
  }

  /** The statement after `count` others fails, so many times. */
  failAfter(count: number, kind: FailureKind, times = 1): void {
    this.#left = count;
    this.#kind = kind;
    this.#times = times;
  }

  disarm(): void {
    this.#times = 0;
  }

  get hasFailed(): boolean {
    return this.#times === 0;
  }

  readonly beforeStatement = (sql: string): void => {
    if (/^rollback/i.test(sql) || this.#times === 0 || this.#left-- > 0) return;
    this.#times--;
    this.#left = 0;
    throw Object.assign(new Error('injected'), FAILURES[this.#name][this.#kind]);
  };
}

export function runFailures(databases: TestDatabases): void {
  describe(`wallets: failures of ${databases.name}`, () => {
    const faults = new StatementFaults(databases.name);
    let url = '';
    let store: SqlWalletStore;
    before(async () => {
      url = await databases.freshUrl();
      store = await openWalletStore(url, { isDurable: false, beforeStatement: faults.beforeStatement });
    });
    after(() => store.close());
    const freshStory = async (): Promise<StoryStore> => {
      await emptyDatabase(url);
      return tellStory(store);
    };

    for (const [name, call] of EVERY_CALL) {
      it(`W43, W58 a failure at any statement of ${name} leaves nothing of it`, async () => {
        const opened = await freshStory();
        const { world } = opened;
        const [rows, range] = [await world.rows(), await store.eventRange()];
        let statements = 0;
        for (; ; statements++) {
          faults.failAfter(statements, 'permanent');
          const failure = await call(opened).then(
            () => undefined,
            (error: unknown) => error,
          );
          const isInjected = faults.hasFailed;
          faults.disarm();
          if (!isInjected) {
            assert.equal(failure, undefined, `${failure}`);
            break;
          }
          assert.ok(isUnspentError(failure, 'DATABASE'), `${failure}`);
          assert.deepEqual(await world.rows(), rows, `after a failure at statement ${statements}`);
          assert.deepEqual(await store.eventRange(), range);
        }
        assert.ok(statements >= 3, `${statements} statements`);
        assert.notDeepEqual([await world.rows(), await store.eventRange()], [rows, range], 'the call does something');
      });
    }

    it('W80 a transient failure is tried again, and the call is done once', async () => {
      const { world } = await freshStory();
      const [rows, mark, counted] = [(await world.rows()).wallets[0].txs.length, await world.mark(), transientCount(store)];
      for (const statement of [0, 4, 9]) {
        faults.failAfter(statement, 'transient', 3);
        await world.create(`try ${statement}`);
        assert.ok(faults.hasFailed);
      }
      assert.equal((await world.rows()).wallets[0].txs.length, rows + 3);
      assert.equal(await world.mark(), mark + 6, 'one tx.added and one utxo.created each');
      assert.equal(transientCount(store) - counted, 9);
      assert.ok(store.isHealthy);
    });

    it('W81 after a fatal failure every call fails until the store is opened anew', async () => {
      const { world } = await freshStory();
      faults.failAfter(5, 'fatal');
      await assert.rejects(world.create('never'), (error) => isUnspentError(error, 'DATABASE_FAILED'));
      assert.equal(store.isHealthy, false);
      await assert.rejects(store.getWallet('wallet 1'), (error) => isUnspentError(error, 'DATABASE_FAILED'));
      await store.close();
      store = await openWalletStore(url, { isDurable: false, beforeStatement: faults.beforeStatement });
      assert.ok(store.isHealthy);
      assert.equal((await store.getWallet('wallet 1')).name, 'wallet 1');
    });

    let story = '';
    before(async () => {
      story = await databases.freshUrl();
      const told = await tellStory(await openWalletStore(story, { isDurable: false }));
      await told.store.close();
    });

    for (const [what, statement, table, read] of DAMAGES) {
      it(`W79 ${what} is an error that names the row`, async () => {
        const copy = await copyOf(databases, story);
        await executeIn(copy, withoutChecks(databases.name, statement));
        const { store, world } = await resumeStory(copy);
        await using _ = world;
        await assert.rejects(read({ store, world }), (error) => {
          assert.ok(isUnspentError(error, 'STORE_DAMAGED'), `${error}`);
          assert.equal(error.meta['table'], table);
          assert.equal(typeof error.meta['id'], 'number');
          return true;
        });
      });
    }
  });
}

function transientCount({ failures }: SqlWalletStore): number {
  return failures.filter((failure) => failure.class === 'transient').reduce((sum, { count }) => sum + count, 0);
}

type Read = (opened: StoryStore) => Promise<unknown>;

/** `{}` is 31 bytes. */
const DAMAGES: readonly (readonly [what: string, statement: string, table: string, read: Read])[] = [
  [
    'a status out of range',
    'UPDATE transactions SET tx_status = 7',
    'transactions',
    ({ store, world }) => store.listTxDetails(world.wallet, -1, 0),
  ],
  [
    'a status out of range',
    'UPDATE transactions SET tx_status = 7',
    'transactions',
    ({ world }) => world.create('next', { spends: ['spare:0'] }),
  ],
  ['a hash that is too short', 'UPDATE transactions SET tx_hash = {}', 'transactions', ({ store, world }) => store.history(world.wallet)],
  ['the hash of a coin', 'UPDATE utxos SET tx_hash = {}', 'utxos', ({ world }) => world.coins()],
  ['a negative index', 'UPDATE utxos SET output_index = -1', 'utxos', ({ world }) => world.coins()],
  ['the id of a lease', 'UPDATE utxo_leases SET lock_id = {}', 'utxo_leases', ({ store, world }) => store.listLeases(world.wallet, NOW)],
  [
    'the hash of an input',
    'UPDATE tx_inputs SET prev_tx_hash = {}',
    'tx_inputs',
    ({ store, world }) => store.getTx(world.wallet, idOf('spare')),
  ],
];

/** Statements that break one row of a table, without what guards it. */
function withoutChecks(name: TestDatabases['name'], statement: string): string {
  const table = /^UPDATE (\w+)/.exec(statement)?.[1] ?? '';
  if (name === 'SQLite') {
    const extra = table === 'transactions' ? ['DROP TRIGGER dead_tx_holds_nothing', 'DROP TRIGGER dead_tx_is_not_spent'] : [];
    const broken = statement.replace('{}', 'zeroblob(31)');
    return [
      'PRAGMA ignore_check_constraints = 1',
      'PRAGMA foreign_keys = 0',
      `DROP TRIGGER IF EXISTS ${table}_immutable`,
      ...extra,
      `${broken} WHERE rowid = (SELECT MAX(rowid) FROM ${table})`,
    ].join('; ');
  }
  const key = table === 'utxo_leases' ? 'utxo_id' : 'id';
  const drop = `DO $$ DECLARE c record; BEGIN FOR c IN SELECT conname FROM pg_constraint WHERE conrelid = '${table}'::regclass AND contype = 'c'
    LOOP EXECUTE format('ALTER TABLE ${table} DROP CONSTRAINT %I', c.conname); END LOOP; END $$`;
  const broken = statement.replace('{}', `decode(repeat('00', 31), 'hex')`);
  return [drop, 'SET session_replication_role = replica', `${broken} WHERE ${key} = (SELECT MAX(${key}) FROM ${table})`].join('; ');
}

/** What makes a store unusable in earnest: W81 without injection. */
export function runRealFailures(databases: TestDatabases, breakIt: (url: string) => Promise<void>): void {
  describe(`wallets: ${databases.name} breaks`, () => {
    it('W81 a database that is read-only or damaged is a fatal failure', async () => {
      const url = await databases.freshUrl();
      const store = await openWalletStore(url);
      await breakIt(url);
      await assert.rejects(store.createWallet({ name: 'x', isWatchOnly: true }), (error) => isUnspentError(error, 'DATABASE_FAILED'));
      assert.equal(store.isHealthy, false);
      await store.close();
    });
  });
}
