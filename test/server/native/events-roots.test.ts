/**
 * Roots in events: of the newest block of each move, through forks, and never of
 * another block than the one they stand beside.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { Prover, type Roots } from '../../../src/query/proofs.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { Devnet, devnetOptions, KEEP_ALL, memoryRig, type RigOptions, TEST_SEED } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';
import { until } from '../../support/patience.ts';
import { Connection, EventServer } from './event-reader.ts';

/** A server, and the roots of every block the store was ever at. */
async function begin(options: RigOptions): Promise<{ server: EventServer; roots: Map<string, Roots> }> {
  const rig = memoryRig(new Devnet(devnetOptions(TEST_SEED, 'conway')), options);
  const roots = new Map<string, Roots>();
  const server = new EventServer(rig);
  const look = (): void =>
    rig.read((query) => {
      if (query.head !== null) roots.set(toHex(query.head.hash), new Prover(query, query, server.context).roots());
    });
  rig.fold.watchers.add({ applied: look, rolledBack: look });
  return { server: await server.start(), roots };
}

describe('roots in events', () => {
  it('are those of the block they are told with', async () => {
    const { server, roots } = await begin({});
    const random = new Random(TEST_SEED);
    const reader = await Connection.open(server.url('?types=block,rollback,tip'), '');
    await until(() => reader.told.length > 0, 'the first event');
    for (let i = 0; i < 12; i++) {
      server.fork(random.int(4), 1 + random.int(5));
      const { hash } = server.rig.devnet.chain.tip!;
      await until(() => reader.told.some(({ event, data }) => event === 'tip' && data.point?.hash === toHex(hash)), 'the new tip');
    }
    const blocks = reader.told.filter(({ event }) => event === 'block');
    const withRoots = blocks.filter(({ data }) => data.roots !== undefined);
    for (const { data } of withRoots) assert.deepEqual(data.roots, roots.get(data.hash), `block ${data.height}`);
    assert.ok(withRoots.length >= 8, `${withRoots.length} of ${blocks.length} blocks came with roots`);
    for (const { data } of withRoots) assert.deepEqual(Object.keys(data.roots), ['csmt', 'setHash']);
    for (const { event, data } of reader.told) {
      if (event === 'undo') assert.equal(data.roots, undefined);
      if (event === 'tip' && data.point !== null) assert.deepEqual(data.roots, roots.get(data.point.hash), `tip ${data.point.height}`);
    }
    reader.hangUp();
    await server.close();
  });

  it('are told of the last block of a long way only', async () => {
    const { server, roots } = await begin({});
    server.rig.forward(1);
    const first = await Connection.open(server.url('?types=block'), '');
    await until(() => first.told.length > 0, 'the first event');
    first.hangUp();
    server.rig.forward(9);
    const again = await Connection.open(server.url('?types=block'), first.lastId);
    await until(() => again.told.length === 9, 'all blocks');
    const having = again.told.map(({ data }) => data.roots !== undefined);
    assert.deepEqual(having, [...Array(8).fill(false), true]);
    const { data } = again.told[8];
    assert.deepEqual(data.roots, roots.get(data.hash));
    again.hangUp();
    await server.close();
  });

  it('are left out where none is kept', async () => {
    const { server } = await begin({ keeps: leaveOut(KEEP_ALL, 'csmt', 'setHash') });
    const reader = await Connection.open(server.url('?types=block,tip'), '');
    await until(() => reader.told.length > 0, 'the first event');
    server.rig.forward(3);
    await until(() => reader.told.some(({ event, data }) => event === 'tip' && data.point?.height === 2), 'the tip');
    for (const { data } of reader.told) assert.equal('roots' in data, false);
    reader.hangUp();
    await server.close();
  });
});
