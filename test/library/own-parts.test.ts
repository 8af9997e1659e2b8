/** Parts of the program's own, passed to `open`: an engine, and a projection that is read through a view. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Batch, EngineFactory, ProjectionEntry, Step } from '../../src/contracts.ts';
import { isUnspentError, open } from '../../src/index.ts';
import { openDevnet } from '../../src/sources.ts';
import { memoryEngine } from '../../src/testing.ts';
import type { ErrorCode } from '../../src/util/errors.ts';

const source = openDevnet('devnet:?blocks=60&rollbacks=0');

function code(wanted: ErrorCode): (error: unknown) => boolean {
  return (error) => isUnspentError(error, wanted);
}

function folder(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), 'unspent-own-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

/** Every unspent output, by its key. */
const names: ProjectionEntry = {
  name: 'names',
  from: 'outputs',
  make() {
    const move = ({ added, removed }: Step, batch: Batch): void => {
      for (const { keyBytes, keyAt } of removed) batch.del('names', keyBytes.slice(keyAt, keyAt + 36));
      for (const { keyBytes, keyAt } of added) batch.put('names', keyBytes.slice(keyAt, keyAt + 36), Uint8Array.of(1));
    };
    return {
      name: 'names',
      columns: [{ name: 'names', access: 'order', weight: 1 }],
      fillable: 'exact',
      apply(step, _view, batch) {
        move(step, batch);
        return undefined;
      },
      revert: (step, _undo, _view, batch) => move(step, batch),
    };
  },
};

describe('an engine of the program', () => {
  it('holds the store, which no other engine opens, and is served by its own thread', async (t) => {
    const data = folder(t);
    const opened: string[] = [];
    const own: EngineFactory = {
      name: 'own',
      open(directory, columns) {
        opened.push(directory);
        return memoryEngine.open(directory, columns);
      },
    };
    const store = await open({ data, network: 'devnet', genesis: source.genesis, engine: own });
    await store.follow(source);
    assert.equal(store.head?.height, 59);
    assert.deepEqual(opened, [join(data, 'db')]);
    const served = await store.serve({ port: 0 });
    const answer = await fetch(new URL('api/v1/status', served.url));
    assert.equal(answer.status, 200);
    await store.close();
    await assert.rejects(open({ data }), code('STORE_ENGINE'));
    await assert.rejects(open({ data, engine: memoryEngine }), code('STORE_ENGINE'));
    const again = await open({ data, engine: own });
    assert.equal(again.head, null, 'what was in memory is gone');
    await again.close();
  });

  it('does not open a store of ours', async (t) => {
    const data = folder(t);
    await (await open({ data, network: 'devnet', genesis: source.genesis, settings: { 'engine.kind': 'sqlite' } })).close();
    await assert.rejects(open({ data, engine: memoryEngine }), code('STORE_ENGINE'));
  });
});

describe('a projection of the program', () => {
  it('is filled, moves with the chain, and is read through a view', async (t) => {
    const data = folder(t);
    const settings = { 'engine.kind': 'sqlite' };
    const first = await open({ data, network: 'devnet', genesis: source.genesis, settings });
    await first.follow(source, { until: { kind: 'height', height: 30 } });
    await first.close();
    const store = await open({ data, settings, projections: [names] });
    const early = store.view();
    assert.throws(() => early.rowsOf('names'), code('INDEX_NOT_READY'));
    early.release();
    await store.follow(source);
    const count = (): number => {
      const view = store.view();
      try {
        return [...view.rowsOf('names').scan('names')].length;
      } finally {
        view.release();
      }
    };
    assert.equal(count(), store.totals()?.utxos);
    store.rollback('height:40');
    assert.equal(count(), store.totals()?.utxos);
    const [now, past] = [store.view(), store.view('height:20')];
    assert.throws(() => now.rowsOf('nothing'), code('NOT_FOUND'));
    assert.throws(() => now.rowsOf('names').get('utxo_unspent', new Uint8Array(36)), code('USAGE'));
    assert.throws(() => past.rowsOf('names'), code('UNSUPPORTED'));
    for (const view of [now, past]) view.release();
    await store.close();
    await assert.rejects(open({ data, settings }), code('STORE_SHAPE'));
  });
});
