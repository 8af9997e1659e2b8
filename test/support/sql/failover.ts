/**
 * Wallets, the transaction store and a publisher at work while their primary is killed and the
 * standby takes its place. Every client notes what was acknowledged to it; what
 * the promoted server has afterwards is compared with that.
 */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { openTxStore } from '../../../src/txstore/open.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { type FeedEvent, type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { allRecords, checkCounts } from '../../txstore/sql/databases.ts';
import * as txs from '../../txstore/support/world.ts';
import { checkInvariants } from '../../wallet/support/invariants.ts';
import { blockAt, firstCoins, idOf, NOW, outpointOf, scriptOf, World } from '../../wallet/support/world.ts';
import { until } from '../patience.ts';
import { PublishedRig } from './published-rig.ts';

/** Servers of one database, of which another one leads after a failover. */
export interface FailingServers {
  /** The leader is lost. Milliseconds until another takes writes. */
  failOver(): Promise<number>;
  /** The same database at the server that leads now. */
  afterwards(url: string): string | Promise<string>;
}

export interface FailoverLoad {
  /** Processes that feed one wallet database, and those that lease its coins. */
  readonly feeders: number;
  readonly lessees: number;
  /** Acknowledged calls of each kind before the primary is killed, and after it. */
  readonly before: number;
  readonly behind: number;
}

export interface FailoverReport {
  readonly blocks: number;
  readonly leases: number;
  readonly records: number;
  /** Moves of a chain whose state is published into the same cluster. */
  readonly published: number;
  /** Coins that are leased although nobody was told so: their commit was not answered. */
  readonly unanswered: number;
  /** Calls of wallets that were made again. */
  readonly repeated: number;
  /** Milliseconds from the kill until the standby took writes, and until every kind of client was answered again. */
  readonly promotedMs: number;
  readonly answeredMs: number;
}

/** What runs until it is told to end. */
interface Running {
  stop: boolean;
}

/** Positions are heights; the block of a height pays to the wallet once. */
class PayingChain implements FeedSource {
  private readonly running: Running;
  /** The newest block of which somebody was told that it is taken in. */
  taken = 0;

  constructor(running: Running) {
    this.running = running;
  }

  async newest(): Promise<{ block: null; position: string }> {
    return { block: null, position: '0' };
  }

  async *events(after: string): AsyncIterable<FeedEvent> {
    for (let height = Number(after) + 1; !this.running.stop; height++) {
      const outputs = [{ script: scriptOf(1, height % 10), amount: 1n }];
      const tx = { id: idOf(`pay ${height}`), raw: new Uint8Array(1), inputs: [outpointOf(`x${height}:0`)], outputs, isCoinbase: false };
      yield { kind: 'connected', block: blockAt(height), txs: [tx], position: `${height}` };
      this.taken = Math.max(this.taken, height);
    }
  }
}

interface Lease {
  readonly id: Uint8Array;
  readonly coin: string;
}

async function leaseCoins(url: string, name: string, running: Running, taken: Lease[]): Promise<number> {
  const store = await openWalletStore(url);
  const { id: wallet } = await store.getWallet('wallet 1');
  for (let n = 0; !running.stop; n++) {
    const id = idOf(`${name} ${n}`);
    const choose = (free: Parameters<typeof firstCoins>[0]) => ({ coins: firstCoins(free, 1) });
    const { coins } = await store.selectAndLease(wallet, { now: NOW }, choose, { id, now: NOW, durationMs: 1_000_000 });
    for (const { txId, index } of coins) taken.push({ id, coin: `${toHex(txId)}#${index}` });
    if (coins.length === 0) await setImmediate();
  }
  const repeated = repeats(store);
  await store.close();
  return repeated;
}

/** Each record spends the one before. Whoever is told that a record is there, because its first commit was not answered, goes on. */
async function storeRecords(url: string, running: Running, stored: number[]): Promise<number> {
  const store = await openTxStore(url, txs.SETTINGS, { depthMax: txs.SETTINGS.window });
  const outputs = [{ amount: 1n, script: txs.ANYBODY }];
  for (let n = 1; !running.stop; n++) {
    const [txId, inputs] = [txs.idOf(`T${n}`), n === 1 ? [] : [txs.outpointOf(`T${n - 1}:0`)]];
    await store.spend([{ txId, inputs }], n);
    try {
      await store.create([{ txId, inputs, outputs, blocks: [] }], n);
    } catch (error) {
      if (!isUnspentError(error, 'TX_EXISTS')) throw error;
    }
    await store.setMined([{ txId, index: 0 }], txs.blockAt(n), true, n);
    stored.push(n);
  }
  await store.close();
  return 0;
}

function repeats({ failures }: { readonly failures: readonly { readonly class: string; readonly count: number }[] }): number {
  assert.deepEqual(
    failures.filter((failure) => failure.class !== 'transient'),
    [],
    'only what can be tried again',
  );
  return failures.reduce((sum, { count }) => sum + count, 0);
}

/** Both stores are on those servers; `wallets` and `records` have their schemas. */
export async function failOverUnderLoad(
  servers: FailingServers,
  urls: { readonly wallets: string; readonly records: string; readonly copy: string },
  load: FailoverLoad,
): Promise<FailoverReport> {
  const made = await openWalletStore(urls.wallets);
  await using world = await World.open(async () => ({ store: made, rows: () => made.rows(), close: () => made.close() }));
  const running: Running = { stop: false };
  const chain = new PayingChain(running);
  const [leases, stored]: [Lease[], number[]] = [[], []];
  const published = new PublishedRig();
  const names = (kind: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${kind} ${n}`);
  const clients = [
    ...names('feeder', load.feeders).map(async () => {
      const store = await openWalletStore(urls.wallets);
      await new WalletFeed(store, { feed: 'chain', now: () => NOW }).follow(chain, new AbortController().signal);
      const repeated = repeats(store);
      await store.close();
      return repeated;
    }),
    ...names('lessee', load.lessees).map((name) => leaseCoins(urls.wallets, name, running, leases)),
    storeRecords(urls.records, running, stored),
    published.run(urls.copy, running),
  ];
  const failures: unknown[] = [];
  for (const client of clients) client.catch((error: unknown) => failures.push(error));
  const counts = (): number[] => [chain.taken, leases.length, stored.length, published.published];
  const reached = (wanted: readonly number[], what: string): Promise<void> =>
    until(
      () => {
        if (failures.length > 0) throw failures[0];
        return counts().every((count, n) => count >= wanted[n]);
      },
      () => `${what}: ${counts()} of ${wanted}`,
    );

  await reached([load.before, load.before, load.before, load.before], 'calls before the failover');
  const before = counts();
  const started = performance.now();
  const promotedMs = await servers.failOver();
  await reached(
    before.map((count) => count + 1),
    'answers after the failover',
  );
  const answeredMs = performance.now() - started;
  await reached(
    before.map((count) => count + load.behind),
    'calls after the failover',
  );
  running.stop = true;
  const repeated = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);

  const unanswered = await checkWallets(world, chain.taken, leases, repeated);
  await checkRecords(urls.records, servers, stored);
  await published.check(await servers.afterwards(urls.copy));
  return {
    blocks: chain.taken,
    leases: leases.length,
    records: stored.length,
    published: published.published,
    unanswered,
    repeated,
    promotedMs,
    answeredMs,
  };
}

/** Every block that somebody was told of, once and in order, and every lease; returns how many leases nobody was told of. */
async function checkWallets(world: World, taken: number, leases: readonly Lease[], repeated: number): Promise<number> {
  const rows = await world.rows();
  const [wallet] = rows.wallets;
  const height = Number(await world.store.feedPosition('chain'));
  assert.ok(height >= taken, `the feed is at ${height}; ${taken} was acknowledged`);
  const heights = Array.from({ length: height }, (_, n) => n + 1);
  const events = (await world.store.listEvents(0, 10_000_000)).map(({ event }) => event);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'sync.tip' ? [event.height] : [])),
    heights,
    'every block once, in order',
  );
  assert.deepEqual(
    wallet.txs.map((tx) => tx.height),
    heights,
    'every payment once',
  );
  assert.equal((await world.balance()).total, BigInt(height));
  checkInvariants(
    rows,
    new Map(wallet.txs.map(({ txId }) => [txId, 1])),
    rows.wallets.map(() => new Set<string>()),
  );

  assert.equal(new Set(leases.map(({ coin }) => coin)).size, leases.length, 'no coin was given to two');
  const held = new Map(wallet.leases.map(({ txId, index, leaseId }) => [`${txId}#${index}`, leaseId]));
  for (const { id, coin } of leases) assert.equal(held.get(coin), toHex(id), `${coin} is still leased to whom it was given`);
  const unanswered = held.size - leases.length;
  // A commit whose answer was lost, made again with another coin (ADR 36).
  assert.ok(unanswered <= repeated, `${unanswered} leases of which nobody was told, ${repeated} calls that were made again`);
  return unanswered;
}

async function checkRecords(url: string, servers: FailingServers, stored: readonly number[]): Promise<void> {
  const store = await openTxStore(url, txs.SETTINGS, { depthMax: txs.SETTINGS.window });
  const records = new Map((await allRecords(store)).map((record) => [txs.nameOf(record.txId), record]));
  await store.close();
  for (const n of stored) {
    const record = records.get(`T${n}`);
    assert.ok(record, `record ${n} was acknowledged`);
    assert.deepEqual(
      record.blocks.map(({ height }) => height),
      [n],
      'mined once',
    );
    if (n === stored.length) continue;
    const { slot } = record.outputs[0];
    assert.equal(slot?.state, 'spent');
    assert.equal(slot?.spender === null || slot?.spender === undefined ? '' : txs.nameOf(slot.spender.txId), `T${n + 1}`);
  }
  assert.ok(records.size <= stored.length + 1, 'nothing but what was asked for');
  await checkCounts(await servers.afterwards(url));
}
