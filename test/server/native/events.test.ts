/**
 * The stream of events, case by case: what is told in which order, where a
 * reader goes on, who is cut off, and what is refused.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cardanoNetwork, formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { cardanoDialect } from '../../../src/query/cardano/dialect.ts';
import { EventStream } from '../../../src/server/native/events/event-stream.ts';
import { type EventOptions, eventCounts } from '../../../src/server/native/events/route.ts';
import { Subscription } from '../../../src/server/native/events/subscription.ts';
import { pruneStep } from '../../../src/state/pruned.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { Devnet, devnetOptions, memoryRig, type RigOptions, TEST_SEED } from '../../support/harness.ts';
import { until } from '../../support/patience.ts';
import { Connection, EventServer } from './event-reader.ts';

interface Setting {
  readonly rig?: RigOptions;
  readonly events?: Partial<EventOptions>;
  readonly server?: { readonly streamsMax: number };
}

async function withServer(body: (server: EventServer) => Promise<void>, setting: Setting = {}): Promise<void> {
  const devnet = new Devnet(devnetOptions(TEST_SEED, 'conway'));
  const server = await new EventServer(memoryRig(devnet, setting.rig), setting.events, setting.server).start();
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

/** Opens a stream and waits for its first event. */
async function listen(server: EventServer, query: string, lastId = ''): Promise<Connection> {
  const connection = await Connection.open(server.url(query), lastId);
  await until(() => connection.told.length > 0 || connection.comments.length > 0 || lastId !== '', 'the first event');
  return connection;
}

async function refusal(server: EventServer, query: string, lastId = ''): Promise<{ status: number; code: string; detail: string }> {
  const response = await fetch(server.url(query), { headers: lastId === '' ? {} : { 'last-event-id': lastId } });
  const problem = (await response.json()) as { status: number; code: string; detail: string };
  assert.equal(response.status, problem.status);
  assert.match(response.headers.get('content-type') ?? '', /problem\+json/);
  return problem;
}

const keyOf = (data: { tx_hash: string; output_index: number }) => `${data.tx_hash}#${data.output_index}`;

describe('what is told', () => {
  it('a block, then what it created, then what it spent; undone exactly in reverse, then the rollback', () =>
    withServer(async (server) => {
      server.rig.forward(5);
      const connection = await listen(server, '?types=block,rollback,utxo');
      assert.deepEqual(connection.told[0].data.point.height, 4);
      server.rig.forward(2);
      await until(() => connection.names().filter((name) => name === 'block').length === 2, 'two blocks');
      const { chain } = server.rig.devnet;
      const wanted = chain.blocks
        .slice(-2)
        .flatMap(({ hash, txs }) => [
          `block ${toHex(hash)}`,
          ...txs.flatMap(({ creates }) => creates.map(({ key }) => `created ${key}`)),
          ...txs.flatMap(({ spends }) => spends.map(({ key }) => `spent ${key}`)),
        ]);
      const told = (from: number) =>
        connection.told.slice(from).map(({ event, data }) => `${event} ${'tx_hash' in data ? keyOf(data) : (data.hash ?? data.to.hash)}`);
      await until(() => told(1).length === wanted.length, 'everything they did');
      assert.deepEqual(told(1), wanted);

      server.fork(2, 0);
      const undoing = { block: 'undo', created: 'uncreated', spent: 'unspent' } as const;
      const reverse = wanted.toReversed().map((line) => line.replace(/^\w+/, (name) => undoing[name as keyof typeof undoing]));
      await until(() => connection.names().includes('rollback'), 'the rollback');
      assert.deepEqual(told(1 + wanted.length), [...reverse, `rollback ${toHex(chain.tip!.hash)}`]);
      const { data } = connection.told.at(-1)!;
      assert.deepEqual([data.undone, data.resumed, data.to.height], [2, false, 4]);
    }));

  it('blocks and rollbacks unless something else is asked for; outputs too where some are named', () =>
    withServer(async (server) => {
      const [plain, filtered] = [await listen(server, ''), await listen(server, `?policy=${'00'.repeat(28)}`)];
      server.rig.forward(3);
      const blocks = (each: Connection) => each.names().filter((name) => name === 'block').length;
      await until(() => blocks(plain) === 3 && blocks(filtered) === 3, 'three blocks');
      server.fork(1, 2);
      for (const each of [plain, filtered]) {
        await until(() => blocks(each) === 5, 'all blocks');
        assert.deepEqual(each.names(), ['begin', 'block', 'block', 'block', 'undo', 'rollback', 'block', 'block']);
      }
    }));

  it('many blocks of one commit are one move to those who want the tip only', () =>
    withServer(async (server) => {
      const [tips, blocks] = [await listen(server, '?types=tip'), await listen(server, '?types=block')];
      server.rig.forward(40, [40]);
      await until(() => blocks.told.length === 41, 'all blocks');
      await until(() => tips.told.length === 2, 'the tip');
      assert.deepEqual(
        tips.told.map(({ event, data }) => [event, data.point?.height]),
        [
          ['tip', undefined],
          ['tip', 39],
        ],
      );
    }));

  it('a sign of life, which moves a quiet reader on', () =>
    withServer(
      async (server) => {
        const quiet = await listen(server, `?types=utxo&policy=${'00'.repeat(28)}`);
        const before = quiet.lastId;
        server.rig.forward(30);
        await until(() => quiet.lastId !== before && quiet.comments.includes('heartbeat'), 'a heartbeat with an id');
        assert.deepEqual(quiet.names(), ['begin']);
        const { lastId } = quiet;
        quiet.hangUp();
        server.rig.forward(2);
        const again = await listen(server, '?types=block', lastId);
        await until(() => again.told.length === 2, 'the two blocks it missed');
        assert.deepEqual(
          again.told.map(({ data }) => data.height),
          [30, 31],
        );
      },
      { events: { heartbeatMs: 20 } },
    ));
});

/** Which blocks have them follows from how the store moved, and for a reader who comes back that is one move. */
function withoutRoots(told: Connection['told']): readonly object[] {
  return told.map(({ data: { roots: _, ...data }, ...rest }) => ({ ...rest, data }));
}

describe('going on', () => {
  it('after any event, in the middle of a block too', () =>
    withServer(async (server) => {
      const first = await listen(server, '?types=block,utxo');
      server.rig.forward(6);
      const total = () => first.told.length;
      await until(() => first.names().filter((name) => name === 'block').length === 6, 'all blocks');
      for (let before = -1; before !== total(); ) {
        before = total();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      for (let i = 0; i < total(); i += 3) {
        const again = await listen(server, '?types=block,utxo', first.told[i].id);
        await until(() => again.told.length === total() - 1 - i, `what came after event ${i}`);
        assert.deepEqual(withoutRoots(again.told), withoutRoots(first.told.slice(i + 1)));
        again.hangUp();
      }
    }));

  it('after a block that is gone: back to one that both know, and on from there', () =>
    withServer(async (server) => {
      server.rig.forward(50);
      const first = await listen(server, '');
      first.hangUp();
      server.fork(3, 6);
      const again = await listen(server, '', first.lastId);
      await until(() => again.told.length > 0 && again.told.at(-1)!.data.height === 52, 'the new tip');
      const [rollback, ...blocks] = again.told;
      const { chain } = server.rig.devnet;
      assert.equal(rollback.event, 'rollback');
      assert.equal(rollback.data.resumed, true);
      const { height, hash } = rollback.data.to as { height: number; hash: string };
      assert.ok(height <= 46 && height >= 40, `the fork is at 46, it went to ${height}`);
      assert.equal(toHex(chain.blocks[height].hash), hash);
      assert.equal(rollback.data.undone, 49 - height);
      assert.deepEqual(
        blocks.map(({ data }) => data.hash),
        chain.blocks.slice(height + 1).map((block) => toHex(block.hash)),
      );
    }));

  it('after a block named by its hash, and by the parameter as well as by the header', () =>
    withServer(async (server) => {
      server.rig.forward(10);
      const { hash } = server.rig.devnet.chain.blocks[6];
      const byHash = await listen(server, `?after=${toHex(hash)}`, '');
      await until(() => byHash.told.length === 3, 'three blocks');
      assert.deepEqual(
        byHash.told.map(({ data }) => data.height),
        [7, 8, 9],
      );
      // The header is newer: a browser sends it when it comes back to the same URL.
      const both = await listen(server, `?after=${toHex(hash)}`, byHash.told[1].id);
      await until(() => both.told.length === 1, 'one block');
      assert.equal(both.told[0].data.height, 9);
    }));

  it('with another server than the one it left', async () => {
    const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED, 'conway')));
    rig.forward(10);
    const first = await new EventServer(rig).start();
    const before = await listen(first, '?types=block');
    await first.stop();
    rig.forward(2);
    const second = await new EventServer(rig).start();
    const after = await listen(second, '?types=block', before.lastId);
    await until(() => after.told.length === 2, 'the two blocks it missed');
    assert.deepEqual(
      after.told.map(({ data }) => data.height),
      [10, 11],
    );
    await second.close();
  });

  it('not where what happened is forgotten: outputs expire, blocks do not', () =>
    withServer(
      async (server) => {
        const { rig } = server;
        rig.forward(5);
        const first = await listen(server, '?types=block,utxo');
        first.hangUp();
        await until(() => eventCounts(server.context)!.open === 0, 'it has left');
        rig.forward(60);
        pruneStep(rig.engine, rig.projections, 64, rig.options, 1000);
        server.reads.moved();
        const outputs = await listen(server, '?types=block,utxo', first.lastId);
        await until(() => outputs.ended, 'the end');
        assert.equal(outputs.names().at(-1), 'expired');
        assert.match(outputs.told.at(-1)!.data.detail, /not known any more/);
        const blocks = await listen(server, '?types=block', first.lastId);
        await until(() => blocks.told.length === 60, 'all blocks');
        assert.equal(eventCounts(server.context)?.ended.expired, 1);
      },
      { rig: { pruneDepth: 10, rollbackWindow: 20 } },
    ));

  it('not from a chain that is not ours', () =>
    withServer(
      async (server) => {
        const other = new Devnet(devnetOptions(TEST_SEED + 1, 'conway'));
        other.mine(1);
        server.rig.forward(30);
        const stranger = await listen(server, `?after=${toHex(other.chain.tip!.hash)}`, '');
        await until(() => stranger.ended, 'the end');
        assert.deepEqual(stranger.names(), ['expired']);
      },
      { rig: { pruneDepth: 10, rollbackWindow: 20 } },
    ));

  it('a live reader of outputs is told when the store runs away from it', () =>
    withServer(
      async (server) => {
        const { rig } = server;
        const outputs = await listen(server, '?types=utxo');
        const blocks = await listen(server, '?types=block');
        // The first block sets the feed to work; the rest comes before it gets its next turn.
        rig.forward(61, [1, 60]);
        pruneStep(rig.engine, rig.projections, 60, rig.options, 1000);
        server.reads.moved();
        await until(() => outputs.ended && blocks.told.length === 62, 'both');
        assert.equal(outputs.names().at(-1), 'expired');
        assert.ok(!outputs.names().includes('rollback'));
      },
      { rig: { pruneDepth: 10, rollbackWindow: 20 } },
    ));
});

describe('bounds', () => {
  it('a reader that takes nothing is cut at the buffer, others are not, and it resumes without a loss', () =>
    withServer(
      async (server) => {
        const { rig } = server;
        const [slow, quick] = [await listen(server, '?types=utxo'), await listen(server, '?types=utxo')];
        slow.pause();
        const cut = () => eventCounts(server.context)!.ended.cut;
        // As many blocks as it takes, all heard by the quick one before the next: it is never behind by a buffer.
        for (let i = 0; cut() === 0 && i < 400; i++) {
          const head = rig.read((query) => query.headRow());
          const before = quick.told.length;
          rig.forward(10);
          const changes = rig.read((query) => Array.from(query.blocksAfter(head), (row) => query.changes(row)));
          const events = changes.reduce((sum, { created, spent }) => sum + created.length + spent.length, 0);
          await until(() => quick.told.length === before + events, 'the quick one hears of it');
        }
        assert.equal(cut(), 1);
        slow.resume();
        await until(() => slow.broken, 'the connection is broken');
        await until(() => slow.told.length < quick.told.length, 'the quick one is ahead');
        assert.ok(!quick.broken);
        const again = await listen(server, '?types=utxo', slow.lastId);
        await until(() => slow.told.length + again.told.length === quick.told.length, 'the rest');
        assert.deepEqual([...slow.told, ...again.told], quick.told);
        assert.equal(cut(), 1, 'a replay waits for its reader, however much it is');
      },
      { events: { bufferBytesMax: 300_000 } },
    ));

  it('a replay waits for its reader, but not for ever', async () => {
    const ends: string[] = [];
    const limits = { heartbeatMs: 1e6, bufferBytesMax: 1e9, stalledMs: 40 };
    const stream = new EventStream(new Subscription({}, cardanoDialect(cardanoNetwork('devnet'))), limits, (_, why) => ends.push(why));
    const text = 'x'.repeat(600_000);
    stream.tell(text);
    const waiting = stream.drained();
    let read = 0;
    stream.body.on('data', (piece: Uint8Array) => {
      read += piece.length;
    });
    await waiting;
    assert.equal(read, text.length, 'it waited until that was taken');
    stream.body.pause();
    stream.tell(text);
    stream.tell(text);
    await stream.drained();
    await until(() => ends.length === 1, 'the end');
    assert.deepEqual(ends, ['cut']);
  });

  it('so many streams and no more', () =>
    withServer(
      async (server) => {
        const open = [await listen(server, ''), await listen(server, '')];
        assert.equal((await refusal(server, '')).code, 'BUSY');
        open[0].hangUp();
        await until(() => eventCounts(server.context)!.open === 1, 'one has left');
        await listen(server, '');
      },
      { server: { streamsMax: 2 } },
    ));

  it('what cannot be asked', () =>
    withServer(async (server) => {
      const { chain } = server.rig.devnet;
      const address = formatAddress(Buffer.from([...chain.utxos.values()][0].addressHex, 'hex'));
      for (const query of [
        '?types=blocks',
        `?types=block&address=${address}`,
        '?address=nonsense',
        '?policy=00',
        '?asset=zz',
        '?after=yes',
        '?stake=1',
      ])
        assert.equal((await refusal(server, query)).code, 'USAGE', query);
      assert.equal((await refusal(server, '', 'yes')).code, 'USAGE');
      assert.equal((await refusal(server, '?colour=red')).code, 'USAGE');
      const many = Array.from({ length: 101 }, (_, i) => i.toString(16).padStart(56, '0'));
      assert.equal((await refusal(server, `?policy=${many.join()}`)).code, 'LIMIT');
      assert.equal(eventCounts(server.context)!.open, 0);
      server.reads.moved();
      assert.equal(server.reads.snapshots, 0, 'a reader that was refused holds nothing');
    }));

  it('outputs of a store that keeps none', () =>
    withServer(
      async (server) => {
        assert.equal((await refusal(server, '?types=utxo')).code, 'UNSUPPORTED');
        const blocks = await listen(server, '');
        server.rig.forward(2);
        await until(() => blocks.told.length === 3, 'two blocks');
      },
      { rig: { utxo: false } },
    ));
});

describe('the end', () => {
  it('a server that stops ends its streams, and one without readers holds nothing', async () => {
    const devnet = new Devnet(devnetOptions(TEST_SEED, 'conway'));
    const server = await new EventServer(memoryRig(devnet)).start();
    const [one, other] = [await listen(server, ''), await listen(server, '?types=tip')];
    server.rig.forward(3);
    await until(() => one.told.length === 4 && other.told.length > 1, 'three blocks');
    one.hangUp();
    other.hangUp();
    await until(() => eventCounts(server.context)!.open === 0, 'both have left');
    server.reads.moved();
    assert.equal(server.reads.snapshots, 0);
    const last = await listen(server, '');
    await server.close();
    await until(() => last.ended || last.broken, 'the end of the stream');
  });

  it('a store that cannot be read is told to the log and to the readers', () =>
    withServer(async (server) => {
      const reader = await listen(server, '');
      const { engine } = server.rig;
      const { snapshot } = engine;
      engine.snapshot = () => {
        throw new Error('the disk is on fire');
      };
      server.rig.forward(1);
      await until(() => reader.ended, 'the end');
      engine.snapshot = snapshot;
      assert.deepEqual(reader.names(), ['begin', 'failure']);
      assert.deepEqual(
        server.failures.splice(0).map(({ message }) => message),
        ['the disk is on fire'],
      );
      const again = await listen(server, '', reader.lastId);
      await until(() => again.told.length === 1, 'the block it missed');
    }));
});
