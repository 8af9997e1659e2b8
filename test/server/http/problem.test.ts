/**
 * How the server fails: in problem documents that say what the caller can do,
 * without anything about the machine or the code inside; in the log, once; and
 * with a red light when the store itself is at fault.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outpointKey } from '../../../src/ledgers/outpoint.ts';
import { UNSPENT } from '../../../src/projections/utxo.ts';
import { problemOf } from '../../../src/server/http/problem.ts';
import { writeFillStart } from '../../../src/state/fill.ts';
import { ERROR_CODES, type ErrorCode, UnspentError } from '../../../src/util/errors.ts';
import { assertProblem, Served } from '../../support/served.ts';

describe('problem documents', () => {
  test('every code has one, with its own status, title and advice', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const problem = problemOf(new UnspentError(code, 'what is wrong'));
      const { status, meaning, advice } = ERROR_CODES[code];
      assert.deepEqual([problem.status, problem.title, problem.advice, problem.code], [status, meaning, advice, code]);
      assert.ok(status >= 400 && status <= 599);
    }
  });

  test('say what is about the request, and nothing about the machine', () => {
    const meta = { column: 'tx', key: 'ab', directory: '/home/me/data', path: '/etc', cause: new Error('x'), knownFrom: 7 };
    const told = problemOf(new UnspentError('PRUNED', 'gone', meta));
    assert.deepEqual([told['column'], told['key'], told['known_from']], ['tx', 'ab', 7]);
    assert.doesNotMatch(JSON.stringify(told), /home|etc|directory|cause/);
    const failure = problemOf(new UnspentError('IO', 'cannot read /home/me/data/000123.sst', meta));
    assert.doesNotMatch(JSON.stringify(failure), /home|sst/);
  });

  test('what nobody foresaw is logged once and told without its particulars', async () => {
    const served = await Served.open({ blocks: 5 });
    const { lease } = served.reads;
    served.reads.lease = () => {
      throw new TypeError('secret is not a function');
    };
    const answer = await served.get('/blocks/latest');
    served.reads.lease = lease;
    assertProblem(answer, 'INTERNAL', 500);
    assert.doesNotMatch(answer.text, /secret|TypeError|\bat \S+ \(|\.ts/);
    assert.equal(served.logged.length, 1);
    assert.match(served.logged[0], /^GET \/api\/v1\/blocks\/latest: TypeError: secret is not a function\n\s+at /);
    assert.equal((await served.get('/blocks/latest')).status, 200, 'the next request is answered');
    served.logged.length = 0;
    await served.close();
  });

  test('a damaged row turns health red, and the row is named', async () => {
    const served = await Served.open({ blocks: 20 });
    const utxo = [...served.devnet.chain.utxos.values()].at(-1)!;
    const { engine } = served.rig;
    const batch = engine.batch();
    batch.del(UNSPENT, outpointKey(utxo.txId, utxo.index));
    batch.commit();
    served.reads.moved();
    assert.equal((await served.get('//health')).status, 200, 'nobody has noticed yet');
    const answer = await served.get(`/addresses/${utxo.addressHex}/utxos?limit=1000`);
    assertProblem(answer, 'STORE_DAMAGED', 500);
    assert.equal(answer.json<{ column: string }>().column, 'utxo_address');
    for (const path of ['//health', '/health']) {
      const health = await served.get(path);
      assert.deepEqual([health.status, health.json()], [503, { healthy: false, reason: 'the store is damaged' }]);
    }
    assert.equal((await served.get('/status')).json<{ healthy: boolean }>().healthy, false);
    assert.equal(served.logged.length, 1);
    served.logged.length = 0;
    await served.close();
  });
});

describe('health and readiness', () => {
  test('follow what the following side says', async () => {
    const served = await Served.open({ blocks: 20 });
    const tip = served.devnet.chain.tip!;
    const state = async (): Promise<[number, number, string | null]> => {
      const [health, ready] = [await served.get('//health'), await served.get('/ready')];
      return [health.status, ready.status, ready.json<{ reason: string | null }>().reason];
    };
    assert.deepEqual(await state(), [200, 200, null], 'a store that is only served is ready');
    served.say({ state: 'connecting' });
    assert.deepEqual(await state(), [200, 503, 'the source has not said where it is']);
    served.say({ state: 'following', sourceTip: { slot: tip.slot + 200, height: tip.height + 6 } });
    assert.deepEqual(await state(), [200, 503, '6 blocks behind the source']);
    served.say({ sourceTip: { slot: tip.slot + 100, height: tip.height + 5 } });
    assert.deepEqual(await state(), [200, 200, null]);
    served.say({ sourceTip: { slot: tip.slot + 1, height: null } });
    assert.deepEqual(await state(), [200, 503, 'behind the source']);
    served.say({ sourceTip: { slot: tip.slot, height: null }, refusals: 2 });
    assert.deepEqual(await state(), [200, 200, null]);
    served.say({ refusals: 3 });
    assert.deepEqual(await state(), [503, 503, 'what the source sends is refused again and again']);
    served.say({ refusals: 0 });
    served.say({ state: 'stopped', lastError: 'cannot read /home/me/chain' });
    assert.deepEqual(await state(), [503, 503, 'nothing is followed any more']);
    assert.doesNotMatch((await served.get('//health')).text, /home/);
    served.say({ state: 'stopped', lastError: null });
    assert.deepEqual(await state(), [200, 503, 'nothing is followed any more']);
    await served.close();
  });

  test('not ready without a block, and not while an index is being filled', async () => {
    const empty = await Served.open({ blocks: 0 });
    assert.deepEqual([(await empty.get('//ready')).status, (await empty.get('//health')).status], [503, 200]);
    await empty.close();
    const served = await Served.open({ blocks: 20 });
    const batch = served.rig.engine.batch();
    writeFillStart(batch, 'index.asset');
    batch.commit();
    served.reads.moved();
    const ready = await served.get('//ready');
    assert.deepEqual([ready.status, ready.json<{ reason: string }>().reason], [503, 'still filling: index.asset']);
    const early = await served.get(`/assets/${'00'.repeat(28)}/utxos`);
    assertProblem(early, 'INDEX_NOT_READY', 503);
    assert.equal(early.headers['retry-after'], '1');
    assert.equal((await served.get(`/policies/${'00'.repeat(28)}/utxos`)).status, 200, 'everything else answers');
    await served.close();
  });

  test('the status says all of it', async () => {
    const served = await Served.open({ blocks: 30, store: { pruneDepth: 8, rollbackWindow: 12 } });
    served.prune();
    const tip = served.devnet.chain.tip!;
    served.say({
      state: 'following',
      source: 'rpc://user:secret@node:1',
      sourceTip: { slot: tip.slot + 60, height: tip.height + 3 },
      rollbacks: [{ time: 1, to: null, undone: 4 }],
      fills: [{ projection: 'index.asset', done: 0.25 }],
      lastError: 'lost it',
    });
    const status = (await served.get('/status')).json<Record<string, never>>();
    assert.deepEqual(
      [status['network'], status['lag_blocks'], status['lag_slots'], status['healthy'], status['ready']],
      ['devnet', 3, 60, true, true],
    );
    assert.deepEqual(status['horizon']['height'], tip.height - 8);
    assert.deepEqual(status['pruned'], { spent_outputs: tip.height - 8, deltas: tip.height - 12 });
    assert.equal(status['utxos'], served.devnet.chain.count);
    assert.equal(status['value'], served.devnet.chain.value.toString());
    assert.equal(status['following']['source'], 'rpc://node:1');
    assert.equal(status['following']['last_error'], 'lost it');
    assert.ok((status['projections'] as string[]).includes('index.policy'));
    await served.close();
  });

  test('the engine speaks for itself, or for one column', async () => {
    for (const engine of ['memory', 'rocks'] as const) {
      const served = await Served.open({ blocks: 20, engine });
      const whole = (await served.get('/status/engine')).json<{ bytes: number; columns: { name: string; bytes: number }[] }>();
      assert.ok(whole.bytes > 0);
      assert.deepEqual(
        whole.columns.map(({ name }) => name),
        served.rig.engine.columns.map(({ name }) => name),
      );
      const one = (await served.get('/status/engine?column=utxo_unspent')).json<{ column: string; bytes: number }>();
      assert.equal(one.column, 'utxo_unspent');
      assert.ok(one.bytes > 0);
      assertProblem(await served.get('/status/engine?column=nothing'), 'NOT_FOUND', 404);
      await served.close();
    }
  });
});
