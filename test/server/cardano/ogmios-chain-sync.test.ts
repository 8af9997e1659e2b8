/**
 * Chain synchronisation of Ogmios with the client that comes from npm: it follows
 * a devnet from the origin and from a point, across rollbacks, and is told what
 * cannot be given.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import {
  type ChainSynchronization,
  createChainSynchronizationClient,
  createInteractionContext,
  createLedgerStateQueryClient,
  type InteractionContext,
} from '@cardano-ogmios/client';
import type { BlockPraos, PointOrOrigin, Tip } from '@cardano-ogmios/schema';
import { WebSocket } from 'ws';
import { Random } from '../../../src/chains/random.ts';
import { readWholeTx } from '../../../src/ledgers/cardano/transaction.ts';
import type { Ledger } from '../../../src/ledgers/ledger.ts';
import { historyProjection } from '../../../src/projections/history/history.ts';
import { projectionTable } from '../../../src/projections/registry.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { until } from '../../support/patience.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';
import { Served } from '../../support/served.ts';

/** Blocks with their transactions take these. */
const KEEPS = ['chain', 'transactions', 'utxo', 'index.address', 'history'];

type Json = Readonly<Record<string, unknown>>;

/** A client that keeps the chain it is told of. */
class Follower {
  readonly blocks: BlockPraos[] = [];
  readonly turns: PointOrOrigin[] = [];
  readonly context: InteractionContext;
  private client!: Awaited<ReturnType<typeof createChainSynchronizationClient>>;

  private constructor(context: InteractionContext) {
    this.context = context;
  }

  static async connect(url: string): Promise<Follower> {
    const connection = { address: { http: url, webSocket: url.replace('http:', 'ws:') } };
    const context = await createInteractionContext(
      (error) => assert.fail(error),
      () => undefined,
      { connection },
    );
    const follower = new Follower(context);
    follower.client = await createChainSynchronizationClient(context, {
      rollForward: async ({ block, tip }, requestNext) => {
        const praos = block as BlockPraos;
        assert.equal(praos.ancestor, follower.blocks.at(-1)?.id ?? praos.ancestor);
        assert.ok((tip as Tip).height >= praos.height);
        follower.blocks.push(praos);
        requestNext();
      },
      rollBackward: async ({ point }, requestNext) => {
        follower.turns.push(point);
        const at = follower.blocks.findLastIndex(({ id }) => point !== 'origin' && id === point.id);
        follower.blocks.length = at + 1;
        requestNext();
      },
    });
    return follower;
  }

  resume(points?: PointOrOrigin[], inFlight?: number): Promise<ChainSynchronization.Intersection> {
    return this.client.resume(points, inFlight);
  }

  /** Has the same blocks, from that height on. */
  async isAt(network: ScriptNetwork, from = 0): Promise<void> {
    const wanted = network.chain.blocks.slice(from).map(({ hash }) => toHex(hash));
    await until(async () => this.blocks.at(-1)?.id === wanted.at(-1), 'the client at the tip');
    assert.deepEqual(
      this.blocks.map(({ id }) => id),
      wanted,
    );
  }

  close(): Promise<void> {
    return this.client.shutdown();
  }
}

describe('chain synchronisation with @cardano-ogmios/client', () => {
  let network: ScriptNetwork;
  let url: string;
  before(async () => {
    network = await ScriptNetwork.start(34, { 'utxo.history': true });
    url = `${network.url}ogmios`;
  });
  after(() => network.close());

  it('follows from the origin, waits at the tip, and goes back where the chain does', async () => {
    const follower = await Follower.connect(url);
    const { intersection, tip } = await follower.resume(['origin']);
    assert.equal(intersection, 'origin');
    assert.equal((tip as Tip).height, network.chain.tip.height);
    await follower.isAt(network);
    assert.deepEqual(follower.turns, ['origin']);
    // A hundred requests wait for a block, and others are answered.
    const queries = await createLedgerStateQueryClient(follower.context);
    assert.equal(await queries.networkBlockHeight(), network.chain.tip.height);
    await network.mine(2);
    await follower.isAt(network);
    const kept = follower.blocks.at(-4)!;
    network.chain.rollback(3);
    await network.mine(5);
    await follower.isAt(network);
    assert.deepEqual(follower.turns.slice(1), [{ slot: kept.slot, id: kept.id }]);
    await follower.close();
  });

  it('goes on from the first point that is on the chain, and back below it', async () => {
    const row = network.chain.blocks.at(-3)!;
    const point = { slot: row.slot, id: toHex(row.hash) };
    const follower = await Follower.connect(url);
    const elsewhere = { slot: row.slot, id: 'ab'.repeat(32) };
    assert.deepEqual((await follower.resume([elsewhere, point, 'origin'], 1)).intersection, point);
    await until(async () => follower.blocks.length === 2, 'the blocks behind the point');
    assert.deepEqual(follower.turns, [point]);
    network.chain.rollback(4);
    await network.mine(6);
    await until(async () => follower.turns.length === 2, 'the rollback');
    const back = follower.turns[1] as { id: string };
    const height = network.chain.blocks.findIndex(({ hash }) => toHex(hash) === back.id);
    assert.ok(height >= 0 && height < network.chain.blocks.length - 6);
    await follower.isAt(network, height + 1);
    await follower.close();
  });

  it('begins at the tip where no point is given', async () => {
    const follower = await Follower.connect(url);
    const { hash, slot } = network.chain.blocks.at(-1)!;
    assert.deepEqual((await follower.resume()).intersection, { slot, id: toHex(hash) });
    await network.mine();
    await follower.isAt(network, network.chain.blocks.length - 1);
    await follower.close();
  });

  it('has every transaction, with scripts, datums and redeemers', async () => {
    const { tx: lock, id } = network.lock(datumOf(5));
    assert.ok(network.chain.submit(lock).accepted);
    await network.mine();
    const { tx: unlock } = network.unlock({ txId: id, index: 0 }, datumOf(5), { memory: 100_000n, steps: 100_000_000n });
    assert.ok(network.chain.submit(unlock).accepted);
    await network.mine();
    const follower = await Follower.connect(url);
    await follower.resume(['origin']);
    await follower.isAt(network);
    const [locking, unlocking] = follower.blocks.slice(-2).map(({ transactions }) => transactions ?? []);
    const locked = locking.find((tx) => tx.id === toHex(id))!;
    assert.equal(locked.outputs[0].datum, toHex(datumOf(5)));
    assert.deepEqual(locked.outputs[0].value, { ada: { lovelace: 20_000_000n } });
    const body = readWholeTx(unlock);
    const spending = unlocking.find((tx) => tx.id === toHex(body.id))!;
    assert.equal(spending.cbor, toHex(unlock));
    assert.deepEqual(spending.inputs, [{ transaction: { id: toHex(id) }, index: 0 }]);
    assert.deepEqual(spending.redeemers, [
      { redeemer: toHex(datumOf(5)), executionUnits: { memory: 100_000, cpu: 100_000_000 }, validator: { purpose: 'spend', index: 0 } },
    ]);
    assert.equal(Object.values(spending.scripts ?? {})[0].language, 'plutus:v3');
    assert.deepEqual(spending.fee, { ada: { lovelace: body.fee } });
    assert.deepEqual(spending.signatories.length, 1);
    const { issuer, protocol, size, era } = follower.blocks.at(-1)!;
    assert.deepEqual([era, protocol.version.major, issuer.operationalCertificate.kes.verificationKey.length], ['conway', 10, 64]);
    assert.ok(size.bytes > unlock.length / 2);
    await follower.close();
  });

  it('is told where no point is on the chain', async () => {
    const follower = await Follower.connect(url);
    await assert.rejects(follower.resume([{ slot: 1, id: 'cd'.repeat(32) }]), (failure: { code: number; data: { tip: Tip } }) => {
      assert.equal(failure.code, 1000);
      assert.equal(failure.data.tip.height, network.chain.tip.height);
      return true;
    });
    await follower.close();
  });
});

describe('chain synchronisation of a chain that turns at random', () => {
  /** What a client has made of the answers that it got. */
  class Copy {
    readonly ids: string[] = [];
    answers = 0;

    take({ result }: Json): void {
      const { direction, block, point } = result as { direction: string; block?: { id: string; ancestor: string }; point?: PointOrOrigin };
      this.answers++;
      if (direction === 'backward') {
        const at = point === 'origin' ? -1 : this.ids.indexOf((point as { id: string }).id);
        assert.ok(point === 'origin' || at >= 0, 'it goes back to a block that it gave');
        this.ids.length = at + 1;
      } else {
        assert.equal(block!.ancestor, this.ids.at(-1) ?? block!.ancestor, 'a block follows the one before');
        this.ids.push(block!.id);
      }
    }
  }

  it('ends at the same chain, however requests and turns fall', async () => {
    const random = new Random(7, 1);
    const served = await Served.open({ blocks: 5, seed: 9, store: { keeps: KEEPS } });
    const { origin } = await served.listen();
    const socket = new WebSocket(`${origin.replace('http:', 'ws:')}/ogmios`);
    const copy = new Copy();
    socket.on('message', (data) => copy.take(JSON.parse(data.toString()) as Json));
    await once(socket, 'open');
    const ask = (count: number): void => {
      for (let i = 0; i < count; i++) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'nextBlock' }));
    };
    for (let turn = 0; turn < 25; turn++) {
      ask(random.int(6));
      const { length } = served.devnet.chain.blocks;
      if (random.chance(0.4) && length > 1) served.back(1 + random.int(Math.min(5, length - 1)));
      served.forward(1 + random.int(4));
      // Some answers come before the next turn, some after it.
      if (random.chance(0.5)) await new Promise((resolve) => setImmediate(resolve));
    }
    ask(500);
    const wanted = served.devnet.chain.blocks.map(({ hash }) => toHex(hash));
    await until(async () => copy.ids.length === wanted.length && copy.ids.at(-1) === wanted.at(-1), 'the copy at the tip');
    assert.deepEqual(copy.ids, wanted);
    served.back(3);
    served.forward(4);
    await until(async () => copy.ids.at(-1) === toHex(served.devnet.chain.blocks.at(-1)!.hash), 'the copy at the new tip');
    socket.close();
    await once(socket, 'close');
    await served.close();
  });
});

describe('chain synchronisation of a store that has not everything', () => {
  /** Sends these, and gives all answers until the server closes the connection. */
  async function exchange(served: Served, requests: readonly object[]) {
    const { origin } = await served.listen();
    const socket = new WebSocket(`${origin.replace('http:', 'ws:')}/ogmios`);
    const answers: Json[] = [];
    socket.on('message', (data) => {
      answers.push(JSON.parse(data.toString()) as Json);
      if (answers.length === requests.length) socket.close();
    });
    const closed = once(socket, 'close') as Promise<[number]>;
    await once(socket, 'open');
    for (const request of requests) socket.send(JSON.stringify({ jsonrpc: '2.0', ...request }));
    const [code] = await closed;
    await served.close();
    return { answers, code };
  }

  const next = { method: 'nextBlock' };
  const errorOf = (answer: Json): { code: number; message: string } => answer['error'] as { code: number; message: string };

  it('says that blocks take a history, and hangs up', async () => {
    const { answers, code } = await exchange(await Served.open({ blocks: 3, store: { keeps: ['chain', 'utxo'] } }), [next, next, next]);
    assert.equal((answers[0]['result'] as Json)['direction'], 'backward');
    assert.match(errorOf(answers[1]).message, /history/);
    assert.deepEqual([answers.length, code], [2, 1011]);
  });

  it('knows no point whose next block was forgotten, nor what is no point', async () => {
    const table = projectionTable([]).map((entry) =>
      entry.name === 'history' ? { ...entry, make: (ledger: Ledger) => historyProjection(ledger, ledger.txBytes!, 10) } : entry,
    );
    const at = (depth: number): object[] => {
      const { slot, hash } = served.devnet.pointBelow(depth)!;
      return [{ slot, id: toHex(hash) }];
    };
    const served = await Served.open({ blocks: 30, store: { table, pruneDepth: 3, keeps: KEEPS } });
    served.prune();
    const { forgottenHeight } = served.rig.read((query) => query.history());
    assert.ok(forgottenHeight > 0);
    const depth = served.devnet.chain.blocks.length - 1 - forgottenHeight;
    const { answers } = await exchange(served, [
      { method: 'findIntersection', params: { points: at(depth + 1) } },
      { method: 'findIntersection', params: { points: at(depth) } },
      next,
      next,
      { method: 'findIntersection', params: { points: [{ slot: 'a' }] } },
      { method: 'findIntersection', params: { points: 1 } },
    ]);
    assert.deepEqual(
      answers.slice(4).map((answer) => errorOf(answer).code),
      [-32_602, -32_602],
    );
    assert.equal(errorOf(answers[0]).code, 1000);
    assert.ok('intersection' in (answers[1]['result'] as Json));
    assert.deepEqual(
      answers.slice(2, 4).map(({ result }) => (result as Json)['direction']),
      ['backward', 'forward'],
    );
  });
});
