/**
 * How the Kupo API answers, whatever is asked: headers that name the block, points
 * of the chain, health, what it has no answer to, and lists that are streamed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toHex } from '../../../src/util/bytes.ts';
import { ROWS_WHOLE_MAX } from '../../../src/util/limits.ts';
import { CLIENT_KEEPS } from '../../support/client-stage.ts';
import { makeOutputs, matchesIn } from '../../support/kupo-match.ts';
import { assertProblem, Served } from '../../support/served.ts';

const KEEPS = { keeps: CLIENT_KEEPS };

describe('headers and the rest', () => {
  let served: Served;
  before(async () => {
    served = await Served.open({ blocks: 60, store: KEEPS });
  });
  after(() => served.close());

  test('an answer names its block, and is not sent twice', async () => {
    const { slot, hash } = served.devnet.chain.blocks.at(-1)!;
    const paths = ['matches?unspent', 'patterns', 'checkpoints', `datums/${'00'.repeat(32)}`, 'checkpoints/5'];
    for (const path of paths) {
      const answer = await served.get(`//kupo/${path}`);
      assert.equal(answer.headers['x-most-recent-checkpoint'], `${slot}`);
      assert.equal(answer.headers['etag'], toHex(hash), 'the hash and nothing else: clients read it');
      for (const tag of [toHex(hash), `"${toHex(hash)}"`, `W/"${toHex(hash)}"`]) {
        const again = await served.get(`//kupo/${path}`, { 'if-none-match': tag });
        assert.deepEqual([again.status, again.text], [304, '']);
      }
      assert.equal((await served.get(`//kupo/${path}`, { 'if-none-match': `"${'00'.repeat(32)}"` })).status, 200);
    }
    const head = await served.ask({ method: 'HEAD', url: '/kupo/matches?unspent' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  test('points of the chain', async () => {
    const { blocks } = served.devnet.chain;
    const point = ({ slot, hash }: { slot: number; hash: Uint8Array }): object => ({ slot_no: slot, header_hash: toHex(hash) });
    const list = (await served.get('//kupo/checkpoints')).json<object[]>();
    assert.deepEqual(list.slice(0, 3), [blocks.at(-1)!, blocks.at(-2)!, blocks.at(-3)!].map(point));
    assert.ok(list.length < 10);
    for (const [i, block] of blocks.slice(0, -1).entries()) {
      assert.deepEqual((await served.get(`//kupo/checkpoints/${block.slot}?strict`)).json(), point(block));
      assert.deepEqual((await served.get(`//kupo/checkpoints/${blocks[i + 1].slot - 1}`)).json(), point(block));
    }
    const gap = blocks.findIndex(({ slot }, i) => i > 0 && slot > blocks[i - 1].slot + 1);
    assert.equal((await served.get(`//kupo/checkpoints/${blocks[gap].slot - 1}?strict`)).text, 'null');
    assertProblem(await served.get('//kupo/checkpoints/x'), 'USAGE', 400);
  });

  test('patterns are what they are, and metadata is not kept', async () => {
    assert.deepEqual((await served.get('//kupo/patterns')).json(), ['*']);
    assert.deepEqual((await served.get(`//kupo/patterns/${'ab'.repeat(28)}/*`)).json(), ['*']);
    assertProblem(await served.get('//kupo/patterns/nothing'), 'USAGE', 400);
    for (const [method, url] of [
      ['PUT', '/kupo/patterns/*'],
      ['PUT', '/kupo/v1/patterns'],
      ['DELETE', '/kupo/patterns/*'],
      ['DELETE', '/kupo/matches/*'],
      ['GET', '/kupo/metadata/7'],
    ] as const) {
      assertProblem(await served.ask({ method, url }), 'UNSUPPORTED', 501);
    }
  });

  test('health, as JSON and as text', async () => {
    const json = { accept: 'application/json' };
    const { slot } = served.devnet.chain.blocks.at(-1)!;
    const health = async (headers = json): Promise<[number, Record<string, unknown>]> => {
      const answer = await served.app.inject({ method: 'GET', url: '/kupo/health', headers: { host: 'localhost', ...headers } });
      return [answer.statusCode, answer.json<Record<string, unknown>>()];
    };
    assert.equal((await health())[0], 200, 'a store that is only served is as new as it will be');
    served.say({ state: 'following', sourceTip: { slot, height: 59 } });
    const [status, told] = await health();
    assert.deepEqual(
      [status, told['connection_status'], told['most_recent_checkpoint'], told['most_recent_node_tip'], told['network_synchronization']],
      [200, 'connected', slot, slot, 1],
    );
    served.say({ sourceTip: { slot: 4 * slot, height: 250 } });
    assert.deepEqual([(await health())[0], (await health())[1]['network_synchronization']], [202, 0.25]);
    served.say({ state: 'waiting' });
    assert.deepEqual([(await health())[0], (await health())[1]['connection_status']], [503, 'disconnected']);
    const text = await served.get('//kupo/metrics', { accept: '*/*' });
    assert.equal(text.status, 200);
    assert.match(text.text, new RegExp(`^# TYPE kupo_most_recent_checkpoint counter\\nkupo_most_recent_checkpoint {2}${slot}$`, 'm'));
    assert.match(text.text, /^kupo_connection_status {2}0\.0$/m);
    served.say({ state: 'idle', sourceTip: null });
  });
});

describe('a long list', () => {
  test('is streamed whole, and one more stream than there may be is told so', async () => {
    const served = await Served.open({ blocks: 2, server: { streamsMax: 1 }, store: KEEPS });
    const address = `60${'cd'.repeat(28)}`;
    // Long enough that the second is asked for while the first is under way, however they share their turns.
    const count = 12 * ROWS_WHOLE_MAX;
    makeOutputs(
      served,
      Array.from({ length: count }, (_, i) => ({ address, lovelace: BigInt(i + 1), assets: {} })),
    );
    const path = `//kupo/matches/${address}?unspent`;
    const found = matchesIn(await served.get(path));
    assert.deepEqual(
      found.map(({ output_index }) => output_index),
      Array.from({ length: count }, (_, i) => count - 1 - i),
    );
    assert.equal(matchesIn(await served.get(`${path}&output_index=7&transaction_id=${found[0].transaction_id}`)).length, 1);
    const both = await Promise.all([served.get(path), served.get(path)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 503], 'BUSY, and nobody waits');
    await served.close();
  });
});
