/**
 * From a snapshot on, a real source: a node of the Bitcoin family over sockets,
 * whose chain grows and turns above the snapshot's block, and one whose chain
 * turned below it, which cannot be followed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type P2pServer, serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { openP2p } from '../../src/sources/bitcoin/p2p/index.ts';
import { importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { equalBytes } from '../../src/util/bytes.ts';
import { regtest } from '../ledgers/bitcoin/samples.ts';
import { TestChain } from '../sources/bitcoin/p2p-chain.ts';
import { assertFails, configOf, exported, temporary } from './world.ts';

const QUICK = { reconnectMs: [1, 20], attempts: 2 } as const;

describe('following a node from a snapshot', () => {
  const folder = temporary();
  const chain = new TestChain(120);
  let server: P2pServer | undefined;
  after(() => server?.close());

  const follow = async (store: OpenStore): Promise<void> => {
    server ??= await serveP2p(chain, { port: 0 });
    await store.follow(openP2p([`p2p://127.0.0.1:${server.port}`], regtest, QUICK));
  };

  async function using<T>(name: string, body: (store: OpenStore) => Promise<T>): Promise<T> {
    const store = await openStore({ data: join(folder, name), network: regtest.name, config: configOf([]) });
    try {
      return await body(store);
    } finally {
      await store.close();
    }
  }

  const assertAtTip = (store: OpenStore): void => assert.ok(equalBytes(store.fold.head!.hash, chain.tip.hash));

  it('goes on to the tip, through turns, and says what a store from the first block says', async () => {
    await using('first', async (store) => {
      await follow(store);
      await exported(store, join(folder, 'snapshot'));
    });
    await importSnapshot(join(folder, 'snapshot'), { data: join(folder, 'begun'), config: configOf([]) });
    await using('begun', async (store) => {
      await follow(store);
      assert.equal(store.fold.head?.height, 120);
      chain.mine(30);
      await follow(store);
      chain.fork(20);
      await follow(store);
      assertAtTip(store);
      assert.deepEqual(store.verify().faults, []);
      // To the very block it began with, and up another branch.
      chain.fork(chain.height - 120);
      await follow(store);
      assertAtTip(store);
      const digest = store.digest();
      await using('whole', async (whole) => {
        await follow(whole);
        assert.deepEqual(whole.digest(), digest);
      });
    });
  });

  it('refuses a chain that turned below it', async () => {
    chain.fork(60);
    await using('begun', async (store) => {
      const { head } = store.fold;
      await assertFails(() => follow(store), 'SOURCE_FORK', 'another branch below the base');
      assert.deepEqual(store.fold.head, head);
    });
  });
});
