/**
 * A COMMIT that the server has done and whose answer is lost with the
 * connection: the call is done once, and answers as if nothing had happened.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { PostgresServer } from '../../support/sql/postgres-server.ts';
import { firstCoins, idOf, NOW, World } from '../support/world.ts';

const COMMIT = /commit\0/i;

/** Stands between a store and its server, and loses the answers to the next commits. */
class LossyWay {
  readonly url: string;
  losses = 0;
  lost = 0;

  private constructor(url: string) {
    this.url = url;
  }

  static async before(t: TestContext, upstream: string): Promise<LossyWay> {
    const parsed = new URL(upstream);
    const folder = parsed.searchParams.get('host') ?? assert.fail('the server listens on a socket');
    const name = readdirSync(folder).find((file) => /^\.s\.PGSQL\.\d+$/.test(file)) ?? assert.fail('there is a socket');
    const own = mkdtempSync(join(tmpdir(), 'unspent-lossy-'));
    parsed.searchParams.set('host', own);
    const way = new LossyWay(parsed.href);
    const server = createServer((client) => {
      const upward = createConnection(join(folder, name));
      let isLosing = false;
      for (const socket of [client, upward]) {
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          upward.destroy();
        });
      }
      client.on('data', (bytes) => {
        if (way.losses > 0 && COMMIT.test(bytes.toString('latin1'))) {
          way.losses--;
          isLosing = true;
        }
        upward.write(bytes);
      });
      upward.on('data', (bytes) => {
        if (!isLosing) return void client.write(bytes);
        way.lost++;
        client.destroy();
      });
    });
    server.listen(join(own, name));
    await once(server, 'listening');
    t.after(() => {
      server.close();
      rmSync(own, { recursive: true, force: true });
    });
    return way;
  }
}

export function runLostCommits(server: PostgresServer): void {
  describe('wallets: PostgreSQL, answers to COMMIT that are lost', () => {
    it('what was done is not done again, and answers as it would have', async (t) => {
      const way = await LossyWay.before(t, await server.freshUrl());
      const store = await openWalletStore(way.url);
      const world = await World.open(async () => ({ store, rows: () => store.rows(), close: () => store.close() }));
      try {
        for (const name of ['A', 'B', 'C']) await world.create(name);
        const losing = async <T>(call: () => Promise<T>, times = 1): Promise<T> => {
          const before = way.lost;
          way.losses = times;
          const result = await call();
          assert.equal(way.lost - before, times);
          return result;
        };
        const scope = { purpose: 86, coinType: 0 };
        const made = await losing(() => store.createWallet({ name: 'other', isWatchOnly: true }));
        assert.deepEqual(await store.getWallet('other'), made);
        const account = { scope, name: 'x', externalKind: 'p2tr', internalKind: 'p2tr', isDerived: true, now: NOW } as const;
        assert.equal((await losing(() => store.createAccount(made.id, account))).number, 0);
        const lease = { id: idOf('me'), now: NOW, durationMs: 1000 };
        const chosen = await losing(() =>
          store.selectAndLease(world.wallet, { now: NOW }, (free) => ({ coins: firstCoins(free, 1) }), lease),
        );
        const leased = await store.listLeases(world.wallet, NOW);
        assert.deepEqual(
          leased.map(({ outpoint }) => outpoint),
          chosen.coins,
        );
        await losing(() => store.deleteTx(world.wallet, idOf('B')));
        await assert.rejects(store.getTx(world.wallet, idOf('B')), { code: 'TX_UNKNOWN' });
        const mark = await world.mark();
        await losing(() => world.invalidate('C'));
        assert.deepEqual(await world.eventsSince(mark), ['tx.status C published -> failed (invalidated)']);
        // Refusals are what they were.
        await assert.rejects(store.createWallet({ name: 'other', isWatchOnly: true }), { code: 'WALLET_EXISTS' });
        assert.ok(store.failures.some(({ class: kind }) => kind === 'transient'));
      } finally {
        await store.close();
      }
    });
  });
}
