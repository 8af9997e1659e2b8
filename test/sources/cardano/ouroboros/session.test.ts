/**
 * The state tables: in every state of every protocol, each message is either in
 * the table or ends the connection; sizes and times are those of the state; and
 * pipelined questions are answered in order.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2C, CHAIN_SYNC_N2N } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import { encodeHandshake, encodeVersionData, HANDSHAKE, VERSIONS } from '../../../../src/sources/cardano/ouroboros/handshake.ts';
import { KEEP_ALIVE } from '../../../../src/sources/cardano/ouroboros/keep-alive.ts';
import { LOCAL_STATE_QUERY } from '../../../../src/sources/cardano/ouroboros/local-state-query.ts';
import { LOCAL_TX_MONITOR } from '../../../../src/sources/cardano/ouroboros/local-tx-monitor.ts';
import { LOCAL_TX_SUBMISSION } from '../../../../src/sources/cardano/ouroboros/local-tx-submission.ts';
import { answerVersions, proposeVersions } from '../../../../src/sources/cardano/ouroboros/negotiate.ts';
import type { Message, Protocol, StateRule } from '../../../../src/sources/cardano/ouroboros/protocol.ts';
import { Session } from '../../../../src/sources/cardano/ouroboros/session.ts';
import { type ErrorCode, isUnspentError } from '../../../../src/util/errors.ts';
import { pair } from './wire.ts';

const code =
  (wanted: ErrorCode, text = /./) =>
  (error: unknown) =>
    isUnspentError(error, wanted) && text.test(error.message);
const HASH = new Uint8Array(32);
const TIP = { point: null, height: 0 };
const TX = { eraIndex: 6, tx: HASH };

/** One message of every kind. */
const SAMPLES: Readonly<Record<string, readonly (Message & Readonly<Record<string, unknown>>)[]>> = {
  handshake: [
    { kind: 'propose', versions: [] },
    { kind: 'accept', version: 14, data: Uint8Array.of(0) },
    { kind: 'refuse', reason: { why: 'versionMismatch', versions: [] } },
    { kind: 'queryReply', versions: [] },
  ],
  'chain-sync': [
    { kind: 'requestNext' },
    { kind: 'awaitReply' },
    { kind: 'rollForward', content: Uint8Array.of(0x40), tip: TIP },
    { kind: 'rollBackward', point: null, tip: TIP },
    { kind: 'findIntersect', points: [] },
    { kind: 'intersectFound', point: null, tip: TIP },
    { kind: 'intersectNotFound', tip: TIP },
    { kind: 'done' },
  ],
  'block-fetch': [
    { kind: 'requestRange', from: null, to: null },
    ...['clientDone', 'startBatch', 'noBlocks', 'batchDone'].map((kind) => ({ kind })),
    { kind: 'block', raw: HASH },
  ],
  'keep-alive': [{ kind: 'keepAlive', cookie: 1 }, { kind: 'response', cookie: 1 }, { kind: 'done' }],
  'local-tx-submission': [{ kind: 'submit', tx: TX }, { kind: 'accept' }, { kind: 'reject', reason: Uint8Array.of(0) }, { kind: 'done' }],
  'local-state-query': [
    { kind: 'acquire', target: { at: 'volatileTip' } },
    { kind: 'acquired' },
    { kind: 'failure', reason: 'pointTooOld' },
    { kind: 'query', query: Uint8Array.of(0x80) },
    { kind: 'result', result: Uint8Array.of(0x80) },
    { kind: 'release' },
    { kind: 'reAcquire', target: { at: 'immutableTip' } },
    { kind: 'done' },
  ],
  'local-tx-monitor': [
    ...['acquire', 'release', 'nextTx', 'getSizes', 'getMeasures', 'done'].map((kind) => ({ kind })),
    { kind: 'acquired', slot: 1 },
    { kind: 'replyNextTx', tx: null },
    { kind: 'hasTx', id: { eraIndex: 6, id: HASH } },
    { kind: 'replyHasTx', has: true },
    { kind: 'replyGetSizes', sizes: { capacityBytes: 1, sizeBytes: 1, txs: 1 } },
    { kind: 'replyGetMeasures', txs: 0, measures: [] },
  ],
};

describe('every state refuses what its table does not have', () => {
  table(HANDSHAKE);
  table(CHAIN_SYNC_N2N);
  table(CHAIN_SYNC_N2C);
  table(BLOCK_FETCH);
  table(KEEP_ALIVE);
  table(LOCAL_TX_SUBMISSION);
  table(LOCAL_STATE_QUERY);
  table(LOCAL_TX_MONITOR);
});

type Path = readonly (Message & Readonly<Record<string, unknown>>)[];

function table<M extends Message, S extends string>(protocol: Protocol<M, S>): void {
  const samples = SAMPLES[protocol.name.replace('local chain-sync', 'chain-sync')];
  for (const [state, path] of pathsOf(protocol, samples)) {
    const rule: StateRule<M['kind'], S> = protocol.states[state];
    it(`${protocol.name}, ${state}`, async () => {
      for (const sample of samples) {
        const { client, server, close } = await pair();
        const sides = { initiator: new Session(client, protocol, 'initiator'), responder: new Session(server, protocol, 'responder') };
        for (const message of path) {
          const { agency } = protocol.states[sides.initiator.state];
          assert.ok(agency !== 'nobody');
          sides[agency].send(message as unknown as M);
          await sides[agency === 'initiator' ? 'responder' : 'initiator'].receive();
        }
        assert.equal(sides.initiator.state, state);
        assert.equal(sides.responder.state, state);
        await tryIn(protocol, rule, sides, sample as unknown as M);
        await close();
      }
    });
  }
}

async function tryIn<M extends Message, S extends string>(
  protocol: Protocol<M, S>,
  rule: StateRule<M['kind'], S>,
  sides: Readonly<Record<'initiator' | 'responder', Session<M, S>>>,
  sample: M,
): Promise<void> {
  const kind: M['kind'] = sample.kind;
  if (rule.agency === 'nobody') {
    assert.throws(() => sides.initiator.send(sample), /may not be sent/);
    await assert.rejects(sides.responder.receive(), /nothing can come/);
    return;
  }
  const [speaker, listener] = rule.agency === 'initiator' ? [sides.initiator, sides.responder] : [sides.responder, sides.initiator];
  const next = rule.sends[kind];
  if (next !== undefined) {
    speaker.send(sample);
    await listener.receive();
    assert.equal(speaker.state, next);
    assert.equal(listener.state, next);
    return;
  }
  assert.throws(() => speaker.send(sample), /may not be sent/);
  // Whoever does not keep to the table sends it all the same.
  speaker.channel.send(protocol.encode(sample));
  await assert.rejects(listener.receive(), code('PROTOCOL', /in state/));
  assert.ok(isUnspentError(listener.channel.mux.failure, 'PROTOCOL'));
}

/** The shortest way into each state. */
function pathsOf<M extends Message, S extends string>(protocol: Protocol<M, S>, samples: Path): Map<S, Path> {
  const paths = new Map<S, Path>([[protocol.initial, []]]);
  for (const [state, path] of paths) {
    const sends: Readonly<Partial<Record<string, S>>> = protocol.states[state].sends;
    for (const sample of samples) {
      const next = sends[sample.kind];
      if (next !== undefined && !paths.has(next)) paths.set(next, [...path, sample]);
    }
  }
  assert.deepEqual([...paths.keys()].sort(), Object.keys(protocol.states).sort(), 'every state can be reached');
  return paths;
}

describe('sessions', () => {
  it('pipelined questions are answered in order, and nothing else goes between', async () => {
    const { client, server, close } = await pair();
    const [asks, answers] = [new Session(client, CHAIN_SYNC_N2N, 'initiator'), new Session(server, CHAIN_SYNC_N2N, 'responder')];
    for (let i = 0; i < 300; i++) asks.send({ kind: 'requestNext' });
    assert.equal(asks.outstanding, 300);
    assert.throws(() => asks.send({ kind: 'done' }), /out of turn/);
    assert.throws(() => asks.send({ kind: 'findIntersect', points: [] }), /out of turn/);
    for (let i = 0; i < 300; i++) {
      assert.equal((await answers.receive()).kind, 'requestNext');
      if (i % 7 === 0) answers.send({ kind: 'awaitReply' });
      answers.send({ kind: 'rollBackward', point: { slot: i, hash: HASH }, tip: TIP });
    }
    for (let i = 0; i < 300; i++) {
      if (i % 7 === 0) assert.equal((await asks.receive()).kind, 'awaitReply');
      const message = await asks.receive();
      assert.ok(message.kind === 'rollBackward' && message.point?.slot === i);
      assert.equal(asks.outstanding, 299 - i);
    }
    assert.equal(asks.state, 'idle');
    await close();
  });

  it('a message above the limit of its state is refused: 65,535 in idle, 2,500,000 while streaming', async () => {
    const { client, server, close } = await pair();
    const [asks, answers] = [new Session(client, BLOCK_FETCH, 'initiator'), new Session(server, BLOCK_FETCH, 'responder')];
    asks.send({ kind: 'requestRange', from: null, to: null });
    await answers.receive();
    answers.send({ kind: 'startBatch' });
    answers.send({ kind: 'block', raw: new Uint8Array(2_499_900) });
    await asks.receive();
    const block = await asks.receive();
    assert.ok(block.kind === 'block' && block.raw.length === 2_499_900);
    answers.send({ kind: 'block', raw: new Uint8Array(2_500_000) });
    await assert.rejects(asks.receive(), code('PROTOCOL'));
    await close();
  });
});

describe('handshake', () => {
  for (const wire of ['n2n', 'n2c'] as const) {
    it(`${wire}: the newest common version is taken`, async () => {
      const { client, server, close } = await pair();
      const [ours, theirs] = await Promise.all([proposeVersions(client, wire, 2), answerVersions(server, wire, 2)]);
      assert.deepEqual(ours, { version: VERSIONS[wire].at(-1), magic: 2 });
      assert.deepEqual(theirs, ours);
      await close();
    });

    it(`${wire}: another network is told with both magics`, async () => {
      const { client, server, close } = await pair();
      const answer = answerVersions(server, wire, 764_824_073);
      await assert.rejects(proposeVersions(client, wire, 2), code('NETWORK_WRONG', /764824073.*\b2\b/));
      assert.equal(await answer, null);
      await close();
    });
  }

  it("a node's own words about the magic are understood", async () => {
    const { client, server, close } = await pair();
    const session = new Session(server, HANDSHAKE, 'responder');
    const proposal = proposeVersions(client, 'n2n', 2);
    await session.receive();
    const text =
      'version data mismatch: NodeToNodeVersionData {networkMagic = NetworkMagic {unNetworkMagic = 1}, diffusionMode = InitiatorAndResponder} /= NodeToNodeVersionData {networkMagic = NetworkMagic {unNetworkMagic = 2}}';
    session.send({ kind: 'refuse', reason: { why: 'refused', version: 15, text } });
    await assert.rejects(proposal, code('NETWORK_WRONG', /magic is 1,.*\b2\b/));
    await close();
  });

  const data = encodeVersionData(14, { magic: 2, query: false, initiatorOnly: true, peerSharing: false });
  const answers: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['no common version', encodeHandshake({ kind: 'refuse', reason: { why: 'versionMismatch', versions: [16] } }), /N2N 16/],
    ['a version that was not offered', encodeHandshake({ kind: 'accept', version: 13, data }), /not offered/],
    ['version data that is none', encodeHandshake({ kind: 'accept', version: 14, data: Uint8Array.of(0) }), /version data/],
    ['refused for another reason', encodeHandshake({ kind: 'refuse', reason: { why: 'refused', version: 14, text: 'full' } }), /full/],
    ['an answer to a query', encodeHandshake({ kind: 'queryReply', versions: [] }), /query/],
  ];
  for (const [name, bytes, text] of answers) {
    it(name, async () => {
      const { client, server, close } = await pair();
      const session = new Session(server, HANDSHAKE, 'responder');
      const proposal = proposeVersions(client, 'n2n', 2);
      await session.receive();
      session.channel.send(bytes);
      await assert.rejects(proposal, code('PROTOCOL', text));
      await close();
    });
  }

  it('a query is answered with our versions; a table out of order is refused', async () => {
    const { client, server, close } = await pair();
    const session = new Session(client, HANDSHAKE, 'initiator');
    const query = encodeVersionData(14, { magic: 2, query: true, initiatorOnly: true, peerSharing: false });
    session.send({ kind: 'propose', versions: [{ version: 14, data: query }] });
    assert.equal(await answerVersions(server, 'n2n', 2), null);
    const reply = await session.receive();
    assert.ok(reply.kind === 'queryReply' && reply.versions.length === VERSIONS.n2n.length);
    await close();
    const entry = (version: number) => ({ version, data });
    const bytes = encodeHandshake({ kind: 'propose', versions: [entry(15), entry(14)] });
    assert.throws(() => HANDSHAKE.decode(bytes), code('PROTOCOL', /order/));
  });
});
