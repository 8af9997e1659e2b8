/**
 * How many requests a peer is sent ahead: what the reference sends, and less for
 * a peer that cuts the connection because of it. The limits of other nodes are
 * those of gouroboros 0.125 (50 messages in its queue).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainClosing, type PeerDepths, usualDepths } from '../../../../src/sources/cardano/ouroboros/pipeline-depth.ts';
import { UnspentError } from '../../../../src/util/errors.ts';
import { PIPELINE_TRIAL_FACTOR } from '../../../../src/util/limits.ts';
import { assertSame, follow, openFollower, SMALL, serveDevnet, settled, source } from '../../../chains/cardano/responder/net.ts';
import { until } from '../../../support/patience.ts';

const GOUROBOROS_QUEUE = { kind: 'shortQueue', requests: 50 } as const;

describe('a peer that cuts the connection beyond 50 chain-sync requests', () => {
  it('is followed from the first block, is told in the error, and is remembered', async (t) => {
    const net = await serveDevnet(t, 400, () => GOUROBOROS_QUEUE);
    const { devnet } = net;
    const store = await openFollower(t, net.data, 'store', devnet);
    const following = follow(store, source(net.url('n2n'), devnet));
    await settled(store, devnet, following);
    assertSame(store, devnet);
    const { lost, lastError } = following.source.status();
    assert.equal(lost, 3, '300, 150 and 75 were too many');
    assert.equal(lastError?.code, 'SOURCE_UNREACHABLE');
    assert.equal(
      lastError.message,
      `${net.url('n2n')} closed the connection while 75 chain-sync requests of ours were unanswered; ` +
        'it may allow fewer, so it is asked again with at most 37 at a time',
    );
    // Far behind again, on a new connection: the depth found before is the first one tried.
    const cut = net.responder.cut();
    devnet.mine(400);
    await cut;
    await settled(store, devnet, following);
    assertSame(store, devnet);
    assert.equal(following.source.status().lost, 4, 'the cut, and none because of the depth');
    await following.stop();
  });

  it('does not use up the attempts of a sync that does not follow', async (t) => {
    const net = await serveDevnet(t, 400, () => GOUROBOROS_QUEUE);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    await store.follow(source(net.url('n2n'), net.devnet, 1));
    assertSame(store, net.devnet);
  });

  it('is not cut at all over its local socket', async (t) => {
    const net = await serveDevnet(t, 400, () => GOUROBOROS_QUEUE);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const from = source(net.url('n2c'), net.devnet, 1);
    await store.follow(from);
    assertSame(store, net.devnet);
    assert.equal(from.status().lost, 0);
  });

  it('a depth of one is the least', async (t) => {
    const net = await serveDevnet(t, 60, () => ({ kind: 'shortQueue', requests: 1 }), { ...SMALL, txPerBlock: 0 });
    const store = await openFollower(t, net.data, 'store', net.devnet);
    await store.follow(source(net.url('n2n'), net.devnet, 1));
    assertSame(store, net.devnet);
  });
});

for (const wire of ['n2n', 'n2c'] as const) {
  it(`at the tip no more is asked for than can come, over ${wire}`, async (t) => {
    const net = await serveDevnet(t, 100);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    await store.follow(source(net.url(wire), net.devnet));
    const strict = await serveDevnet(t, 100, () => ({ kind: 'shortQueue', requests: 2 }));
    const following = follow(store, source(strict.url(wire), strict.devnet));
    await until(() => following.source.status().state === 'following', 'met');
    strict.devnet.mine(1);
    await settled(store, strict.devnet, following);
    await following.stop();
    assert.equal(following.source.status().lost, 0);
  });
}

describe('which ending of a connection is taken for a limit', () => {
  const closed = new UnspentError('SOURCE_UNREACHABLE', 'closed', { closedByPeer: true });
  const ask = (depth: PeerDepths['chainSync'], asked: number, answered = 0): void => {
    depth.begin();
    for (let i = 0; i < asked; i++) depth.asked();
    for (let i = 0; i < answered; i++) {
      depth.answered();
      depth.asked();
    }
  };
  const explained = (depths: PeerDepths, error: unknown = closed): Record<string, unknown> =>
    (explainClosing(error, 'P', depths) as UnspentError).meta;

  it('the peer’s, soon after so many requests were outstanding for the first time', () => {
    const depths = usualDepths('n2n');
    ask(depths.chainSync, 300, PIPELINE_TRIAL_FACTOR * 300 - 1);
    assert.deepEqual(explained(depths), { closedByPeer: true, protocol: 'chain-sync', unanswered: 300, depth: 150, adapted: true });
    assert.equal(depths.chainSync.max, 150);
  });

  it('not one that comes later, or of a single request, or that is ours', () => {
    const depths = usualDepths('n2n');
    ask(depths.chainSync, 300, PIPELINE_TRIAL_FACTOR * 300);
    assert.equal(explainClosing(closed, 'P', depths), closed);
    ask(depths.chainSync, 1);
    assert.equal(explainClosing(closed, 'P', depths), closed);
    ask(depths.chainSync, 300);
    const late = new UnspentError('SOURCE_UNREACHABLE', 'no answer in 10 s');
    assert.equal(explainClosing(late, 'P', depths), late);
    assert.equal(depths.chainSync.max, 300);
  });

  it('of two protocols it is the one with more requests, and the depth that was reached is halved', () => {
    const depths = usualDepths('n2n');
    ask(depths.chainSync, 40);
    ask(depths.blockFetch, 9);
    assert.equal(explained(depths)['protocol'], 'chain-sync');
    assert.deepEqual([depths.chainSync.max, depths.blockFetch.max], [20, 10]);
    ask(depths.chainSync, 3);
    ask(depths.blockFetch, 9);
    assert.equal(explained(depths)['protocol'], 'block-fetch');
    assert.deepEqual([depths.chainSync.max, depths.blockFetch.max], [20, 4]);
  });
});
