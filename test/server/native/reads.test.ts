/**
 * Leases: one snapshot between two moves, however many read; an old one as long
 * as somebody reads from it; none left behind.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../../src/engine/engine.ts';
import { EngineReads } from '../../../src/server/reads.ts';
import { assertCode, Devnet, devnetOptions, memoryRig } from '../../support/harness.ts';
import { Served } from '../../support/served.ts';

/** Counts the snapshots that are taken. */
function counted(engine: Engine): { engine: Engine; taken: () => number } {
  let taken = 0;
  const watching = Object.create(engine, {
    snapshot: {
      value: (columns: readonly string[]) => {
        taken++;
        return engine.snapshot(columns);
      },
    },
  }) as Engine;
  return { engine: watching, taken: () => taken };
}

describe('leases', () => {
  test('share one snapshot until the store moves', () => {
    const rig = memoryRig(new Devnet(devnetOptions(1, 'conway')));
    rig.forward(5);
    const { engine, taken } = counted(rig.engine);
    const reads = new EngineReads(engine, rig.devnet.ledger);
    assert.equal(taken(), 0, 'nobody has asked yet');
    const [first, second] = [reads.lease(), reads.lease()];
    assert.equal(first.query, second.query);
    first.release();
    second.release();
    assert.equal(reads.lease().query, first.query, 'it is kept while nobody reads');
    assert.deepEqual([taken(), reads.snapshots], [1, 1]);
  });

  test('an old snapshot stays for its last reader, and at its point', () => {
    const rig = memoryRig(new Devnet(devnetOptions(1, 'conway')));
    rig.forward(5);
    const reads = new EngineReads(rig.engine, rig.devnet.ledger);
    const [old, older] = [reads.lease(), reads.lease()];
    rig.forward(1);
    assert.equal(reads.lease().query.head?.height, 4, 'not told yet');
    let told = 0;
    const stop = reads.onMove(() => {
      told++;
      const lease = reads.lease();
      assert.equal(lease.query.head?.height, 5, 'a listener sees the new point');
      lease.release();
    });
    reads.moved();
    assert.equal(reads.snapshots, 2);
    assert.equal(old.query.head?.height, 4);
    assert.ok(old.query.blockAtHeight(4) !== null && old.query.blockAtHeight(5) === null);
    old.release();
    assert.equal(reads.snapshots, 2);
    older.release();
    // One lease of the old point is still out: the one taken before we were told.
    assert.equal(reads.snapshots, 2);
    stop();
    reads.moved();
    assert.deepEqual([told, reads.snapshots], [1, 1]);
  });

  test('are released once, and not given after the end', () => {
    const rig = memoryRig(new Devnet(devnetOptions(1, 'conway')));
    rig.forward(2);
    const reads = new EngineReads(rig.engine, rig.devnet.ledger);
    const lease = reads.lease();
    lease.release();
    assert.throws(() => lease.release(), /released once/);
    const last = reads.lease();
    reads.close();
    assert.equal(reads.snapshots, 1, 'a reader may finish');
    assertCode(() => reads.lease(), 'CLOSED');
    last.release();
    assert.equal(reads.snapshots, 0);
  });

  test('requests take no snapshot of their own', async () => {
    const served = await Served.open({ blocks: 20, engine: 'rocks' });
    const { engine } = served.rig;
    let taken = 0;
    const snapshot = engine.snapshot.bind(engine);
    engine.snapshot = (columns) => {
      taken++;
      return snapshot(columns);
    };
    served.reads.moved();
    const etag = (await served.get('/blocks/latest')).headers['etag'] ?? '';
    const utxos = [...served.devnet.chain.utxos.values()].slice(0, 50);
    for (const { key } of utxos) await served.get(`/utxos/${key.replace('#', '/')}`);
    for (let i = 0; i < 20; i++) await served.get('/blocks/latest', { 'if-none-match': etag });
    assert.equal(taken, 1);
    served.forward(1);
    for (const { key } of utxos) await served.get(`/utxos/${key.replace('#', '/')}`);
    assert.equal(taken, 2);
    await served.close();
  });
});
