/**
 * Changes as lines, over HTTP and as a file: a replica that knows nothing but
 * docs/replicas.md has the digest of the store, and all of its rows, after
 * blocks, rollbacks, answers that were cut off, and long absence.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { digestOf } from '../../src/query/digest.ts';
import { HORIZON_KEY } from '../../src/state/horizon.ts';
import { toHex } from '../../src/util/bytes.ts';
import { document, failure, temporary } from '../cli/run.ts';
import { assertSameRows, dump, TEST_SEED } from '../support/harness.ts';
import { Replica } from '../support/publish/replica.ts';
import { Served } from '../support/served.ts';

/** Goes on until it has everything. */
async function catchUp(replica: Replica, served: Served, limit: number): Promise<void> {
  for (;;) {
    const { position } = replica;
    const query = position === null ? '' : `?limit=${limit}&after=${encodeURIComponent(position)}`;
    const answer = await served.get(`/changes${query}`);
    if (answer.status === 410) {
      assert.equal(answer.json<{ code: string }>().code, 'EXPIRED');
      replica.position = null;
      continue;
    }
    assert.equal(answer.status, 200, answer.text);
    const result = replica.take(answer.text);
    if (result === 'anew') replica.position = null;
    if (result === 'all') return;
  }
}

/** What the store remembers of its own pruning and horizon is not told. */
function assertIsStore(replica: Replica, served: Served, what: string): void {
  const { engine } = served.rig;
  assert.equal(replica.digest(), digestOf(engine).digest, what);
  for (const [column, rows] of dump(engine)) {
    const ours = [...(replica.columns.get(column) ?? assert.fail(column))].map(([key, value]) => `${key} ${value}`).sort();
    const wanted = rows.filter((row) => !row.startsWith(`${toHex(HORIZON_KEY)} `));
    assertSameRows(
      ours.filter((row) => !row.startsWith(`${toHex(HORIZON_KEY)} `)),
      wanted,
      `${what}: ${column}`,
    );
  }
}

describe('a replica', () => {
  it('is the store after blocks, rollbacks and absence', async () => {
    const served = await Served.open({ blocks: 30, mirrored: false });
    const random = new Random(TEST_SEED);
    const [often, seldom] = [new Replica(), new Replica()];
    for (let turn = 0; turn < 40; turn++) {
      if (random.chance(0.4)) served.back(1 + random.int(6));
      served.forward(random.int(6));
      await catchUp(often, served, 1 + random.int(4));
      assertIsStore(often, served, `turn ${turn}`);
      if (turn % 7 !== 6) continue;
      await catchUp(seldom, served, 1000);
      assertIsStore(seldom, served, `turn ${turn}, after absence`);
    }
    assert.ok(often.counts.undone > 10 && often.counts.applied > 50, JSON.stringify(often.counts));
    assert.ok(seldom.counts.applied > 20 && seldom.counts.snapshots < 6, JSON.stringify(seldom.counts));
    await served.close();
  });

  it('has the unspent set where the store forgets, and begins anew where it was away for too long', async () => {
    const served = await Served.open({ blocks: 30, mirrored: false, store: { pruneDepth: 10, rollbackWindow: 12 } });
    const replica = new Replica();
    for (let turn = 0; turn < 8; turn++) {
      served.forward(turn === 5 ? 25 : 4);
      if (turn % 3 === 2) served.back(3);
      served.prune();
      await catchUp(replica, served, 5);
      assert.equal(replica.digest(), digestOf(served.rig.engine).digest, `turn ${turn}`);
    }
    assert.equal(replica.counts.snapshots, 2, 'the 25 blocks were more than the store could tell');
    await served.close();
  });

  it('is told what is wrong with a position', async () => {
    const served = await Served.open({ blocks: 10, mirrored: false });
    assert.equal((await served.get('/changes?after=nonsense')).json<{ code: string }>().code, 'USAGE');
    assert.equal((await served.get(`/changes?after=${'00'.repeat(32)}`)).status, 200, 'a block of which nothing is known was rolled back');
    assert.equal((await served.get('/changes?limit=0')).status, 400);
    const [first, ...rest] = (await served.get('/changes?after=origin&limit=1')).text.trimEnd().split('\n');
    assert.deepEqual([JSON.parse(first).kind, rest.length, JSON.parse(rest[0]).more], ['applied', 1, true]);
    await served.close();
  });

  it('is made of files, too', async () => {
    const [data, files] = [temporary(), temporary()];
    const replica = new Replica();
    await document(['sync', '--source', 'devnet:', '--until', 'height:20', '--data', data]);
    const first = await document<{ position: string }>(['changes', join(files, 'one'), '--data', data]);
    assert.equal(replica.take(readFileSync(join(files, 'one'), 'utf8')), 'all');
    assert.equal(first.position, replica.position);
    await document(['sync', '--source', 'devnet:', '--until', 'height:33', '--data', data]);
    await document(['changes', join(files, 'two'), '--after', first.position, '--data', data]);
    assert.equal(replica.take(readFileSync(join(files, 'two'), 'utf8')), 'all');
    assert.equal(replica.counts.applied, 13);
    const { digest } = await document<{ digest: string }>(['digest', '--data', data]);
    assert.equal(replica.digest(), digest);
    await failure(['changes', join(files, 'one'), '--data', data], 'USAGE', 2);
  });
});
