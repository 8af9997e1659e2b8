/**
 * The codecs against real messages and the consensus layer's golden encodings:
 * what is read must be written back byte for byte; and every message of every
 * protocol must survive the way there and back.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { blake2b256, blake2b256Prefixed } from '../../../../src/crypto/hash.ts';
import { readHeader } from '../../../../src/ledgers/cardano/index.ts';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2C, CHAIN_SYNC_N2N, decodeChainSync, encodeChainSync } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import {
  headerOfBlock,
  readTx,
  readTxId,
  readWrappedBlock,
  readWrappedHeader,
  wrapBlock,
  wrapHeader,
  writeTx,
  writeTxId,
} from '../../../../src/sources/cardano/ouroboros/envelope.ts';
import { encodeVersionData, HANDSHAKE, readVersionData, VERSIONS } from '../../../../src/sources/cardano/ouroboros/handshake.ts';
import { KEEP_ALIVE } from '../../../../src/sources/cardano/ouroboros/keep-alive.ts';
import { LOCAL_STATE_QUERY } from '../../../../src/sources/cardano/ouroboros/local-state-query.ts';
import { LOCAL_TX_MONITOR } from '../../../../src/sources/cardano/ouroboros/local-tx-monitor.ts';
import { LOCAL_TX_SUBMISSION } from '../../../../src/sources/cardano/ouroboros/local-tx-submission.ts';
import type { Message, Protocol } from '../../../../src/sources/cardano/ouroboros/protocol.ts';
import { decodeQuestion, encodeQuestion, type Question, readUtxo, writeUtxo } from '../../../../src/sources/cardano/ouroboros/queries.ts';
import { equalBytes, fromHex, toHex } from '../../../../src/util/bytes.ts';
import { Cursor } from '../../../../src/util/cbor.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture } from '../../../support/fixtures.ts';

const GOLDEN = ['cardano', 'golden', 'n2n-CardanoNodeToNodeVersion2'] as const;
const names = (folder: string, start: string): string[] =>
  hasFixtures ? readdirSync(fixtures('cardano', folder)).filter((name) => name.startsWith(start)) : [];
const golden = (start: string): string[] => names('golden/n2n-CardanoNodeToNodeVersion2', start);

const HASH = new Uint8Array(32).fill(7);
const POINT = { slot: 123_456_789, hash: HASH };
const TIP = { point: POINT, height: 9_000_000 };

/** The hash in the name of a wire sample. */
const hashIn = (name: string): string => /_([0-9a-f]{64})\./.exec(name)?.[1] ?? '';

describe('real messages', () => {
  it('RollForward of whole blocks', needsFixtures, () => {
    const samples = names('wire', 'rollforward_ntc');
    assert.equal(samples.length, 3);
    for (const name of samples) {
      const bytes = readFixture('cardano', 'wire', name);
      const message = decodeChainSync(bytes);
      assert.equal(message.kind, 'rollForward');
      assert.ok(message.kind === 'rollForward' && message.tip.point !== null);
      assert.ok(equalBytes(encodeChainSync(message), bytes), name);
      const raw = readWrappedBlock(message.content);
      assert.equal(toHex(readHeader(raw, 21_600).hash), hashIn(name));
      assert.ok(equalBytes(wrapBlock(raw), message.content), name);
    }
  });

  it('RollForward of headers', needsFixtures, () => {
    const samples = names('wire', 'rollforward_ntn');
    assert.equal(samples.length, 2);
    for (const name of samples) {
      const bytes = readFixture('cardano', 'wire', name);
      const message = decodeChainSync(bytes);
      assert.ok(message.kind === 'rollForward');
      assert.ok(equalBytes(encodeChainSync(message), bytes), name);
      const header = readWrappedHeader(message.content);
      assert.ok(equalBytes(wrapHeader(header), message.content), name);
      const prefix = Uint8Array.of(0x82, header.era);
      const hash = header.era > 1 ? blake2b256(header.header) : blake2b256Prefixed(prefix, header.header, 0, header.header.length);
      assert.equal(toHex(hash), hashIn(name));
    }
  });

  it('a block of the wire and its header of the wire belong together', needsFixtures, () => {
    for (const name of names('wire', 'rollforward_ntn')) {
      const packed = name.includes('ebb') ? '.gz' : '';
      const block = decodeChainSync(readFixture('cardano', 'wire', `${name.replace('ntn', 'ntc')}${packed}`));
      const header = decodeChainSync(readFixture('cardano', 'wire', name));
      assert.ok(block.kind === 'rollForward' && header.kind === 'rollForward');
      assert.ok(equalBytes(wrapHeader(headerOfBlock(readWrappedBlock(block.content))), header.content), name);
    }
  });

  it('golden blocks, headers, transactions and their ids', needsFixtures, () => {
    const seen = { Block_: 9, SerialisedBlock_: 9, Header_: 9, SerialisedHeader_: 9, GenTx_: 8, GenTxId_: 8 };
    for (const [start, count] of Object.entries(seen)) {
      const samples = golden(start);
      assert.equal(samples.length, count, start);
      for (const name of samples) {
        const bytes = readFixture(...GOLDEN, name);
        assert.equal(toHex(again(start, bytes)), toHex(bytes), name);
      }
    }
  });

  it('the header inside a golden block is found where the eras agree on the shape', needsFixtures, () => {
    for (const name of golden('Block_').filter((each) => !each.includes('Byron'))) {
      const { era } = headerOfBlock(readWrappedBlock(readFixture(...GOLDEN, name)));
      assert.equal(era, readWrappedHeader(readFixture(...GOLDEN, name.replace('Block_', 'Header_'))).era, name);
    }
  });
});

function again(start: string, bytes: Uint8Array): Uint8Array {
  if (start.includes('Block')) return wrapBlock(readWrappedBlock(bytes));
  if (start.includes('Header')) return wrapHeader(readWrappedHeader(bytes));
  const c = new Cursor(bytes);
  const out = start === 'GenTx_' ? writeTx(new CborWriter(), readTx(c)) : writeTxId(new CborWriter(), readTxId(c));
  assert.equal(c.at, bytes.length);
  return out.take();
}

describe('every message, there and back', () => {
  const data = Uint8Array.of(0x82, 2, 0xf4);
  const table = [
    { version: 14, data },
    { version: 15, data },
  ];
  const tx = { eraIndex: 6, tx: fromHex('84a300d9010280018002 00a0f5f6'.replaceAll(' ', '')) };
  const id = { eraIndex: 6, id: HASH };

  same(HANDSHAKE, [
    { kind: 'propose', versions: table },
    { kind: 'accept', version: 15, data },
    { kind: 'refuse', reason: { why: 'versionMismatch', versions: [14, 15] } },
    { kind: 'refuse', reason: { why: 'decodeError', version: 14, text: 'no' } },
    { kind: 'refuse', reason: { why: 'refused', version: 14, text: 'networkMagic = 1' } },
    { kind: 'queryReply', versions: table },
  ]);
  for (const protocol of [CHAIN_SYNC_N2N, CHAIN_SYNC_N2C]) {
    same(protocol, [
      { kind: 'requestNext' },
      { kind: 'awaitReply' },
      { kind: 'rollForward', content: wrapBlock(HASH), tip: TIP },
      { kind: 'rollForward', content: wrapHeader({ era: 0, header: HASH, blockBytes: 648_087 }), tip: { point: null, height: 0 } },
      { kind: 'rollBackward', point: POINT, tip: TIP },
      { kind: 'rollBackward', point: null, tip: TIP },
      { kind: 'findIntersect', points: [POINT, { ...POINT, slot: 1 }, null] },
      { kind: 'findIntersect', points: [] },
      { kind: 'intersectFound', point: POINT, tip: TIP },
      { kind: 'intersectNotFound', tip: TIP },
      { kind: 'done' },
    ]);
  }
  same(BLOCK_FETCH, [
    { kind: 'requestRange', from: POINT, to: POINT },
    { kind: 'clientDone' },
    { kind: 'startBatch' },
    { kind: 'noBlocks' },
    { kind: 'block', raw: new Uint8Array(100_000).fill(1) },
    { kind: 'batchDone' },
  ]);
  same(KEEP_ALIVE, [{ kind: 'keepAlive', cookie: 0xffff }, { kind: 'response', cookie: 0 }, { kind: 'done' }]);
  same(LOCAL_TX_SUBMISSION, [
    { kind: 'submit', tx },
    { kind: 'accept' },
    { kind: 'reject', reason: Uint8Array.of(0x81, 0x61, 0x61) },
    { kind: 'done' },
  ]);
  same(LOCAL_STATE_QUERY, [
    ...(['acquire', 'reAcquire'] as const).flatMap((kind) => [
      { kind, target: { at: 'point' as const, point: POINT } },
      { kind, target: { at: 'volatileTip' as const } },
      { kind, target: { at: 'immutableTip' as const } },
    ]),
    { kind: 'acquired' },
    { kind: 'failure', reason: 'pointTooOld' },
    { kind: 'failure', reason: 'pointNotOnChain' },
    { kind: 'query', query: encodeQuestion({ about: 'currentEra' }) },
    { kind: 'result', result: Uint8Array.of(0x06) },
    { kind: 'release' },
    { kind: 'done' },
  ]);
  same(LOCAL_TX_MONITOR, [
    { kind: 'acquire' },
    { kind: 'acquired', slot: 5 },
    { kind: 'release' },
    { kind: 'nextTx' },
    { kind: 'replyNextTx', tx: null },
    { kind: 'replyNextTx', tx },
    { kind: 'hasTx', id },
    { kind: 'replyHasTx', has: true },
    { kind: 'replyHasTx', has: false },
    { kind: 'getSizes' },
    { kind: 'replyGetSizes', sizes: { capacityBytes: 180_224, sizeBytes: 300, txs: 2 } },
    { kind: 'getMeasures' },
    { kind: 'replyGetMeasures', txs: 1, measures: [{ name: 'transaction_bytes', used: 3, capacity: 9 }] },
    { kind: 'done' },
  ]);

  it('a question for a transaction in the mempool, as a node has it', () => {
    const has = `820782065820${'07'.repeat(32)}`;
    assert.equal(toHex(LOCAL_TX_MONITOR.encode({ kind: 'hasTx', id: { eraIndex: 6, id: new Uint8Array(32).fill(7) } })), has);
    assert.equal(toHex(LOCAL_TX_MONITOR.encode({ kind: 'replyHasTx', has: false })), '8208f4');
    assert.throws(() => LOCAL_TX_MONITOR.decode(fromHex(`82075820${'07'.repeat(32)}`)), { code: 'PROTOCOL' }, 'the bare hash');
  });

  it('version data', () => {
    const full = { magic: 764_824_073, query: false, initiatorOnly: true, peerSharing: false };
    for (const version of [...VERSIONS.n2n, ...VERSIONS.n2c]) {
      assert.deepEqual(readVersionData(version, encodeVersionData(version, full)), full);
    }
    assert.equal(toHex(encodeVersionData(14, { ...full, magic: 2 })), '8402f500f4');
    assert.equal(toHex(encodeVersionData(0x8010, { ...full, magic: 2 })), '8202f4');
  });

  it('questions and sets of outputs', () => {
    const questions: Question[] = [
      { about: 'systemStart' },
      { about: 'chainHeight' },
      { about: 'chainPoint' },
      { about: 'eraHistory' },
      { about: 'currentEra' },
      ...(['epoch', 'parameters', 'utxoWhole', 'genesisConfig'] as const).map(
        (about): Question => ({ about: 'era', eraIndex: 6, question: { about } }),
      ),
      { about: 'era', eraIndex: 6, question: { about: 'utxoByAddress', addresses: [HASH.subarray(3)] } },
      { about: 'era', eraIndex: 6, question: { about: 'utxoByInput', inputs: [{ txId: HASH, index: 300 }] } },
    ];
    for (const question of questions) assert.deepEqual(decodeQuestion(encodeQuestion(question)), question);
    assert.equal(toHex(encodeQuestion({ about: 'era', eraIndex: 6, question: { about: 'utxoWhole' } })), '8200820082068107');
    assert.equal(decodeQuestion(fromHex('8109')), null);
    const entries = [{ input: { txId: HASH, index: 1 }, output: Uint8Array.of(0x82, 0x41, 1, 5) }];
    assert.deepEqual([...readUtxo(writeUtxo(entries))], entries);
  });
});

function same<M extends Message, S extends string>(protocol: Protocol<M, S>, messages: readonly M[]): void {
  it(`${protocol.name} (${messages.length} messages), and every cut of them refused`, () => {
    const kinds = new Set<string>(Object.values<{ sends: object }>(protocol.states).flatMap(({ sends }) => Object.keys(sends)));
    for (const message of messages) {
      kinds.delete(message.kind);
      const bytes = protocol.encode(message);
      assert.deepEqual(protocol.decode(bytes), message);
      for (let end = 0; end < Math.min(bytes.length, 200); end++) {
        assert.throws(
          () => protocol.decode(bytes.subarray(0, end)),
          (error) => isUnspentError(error, 'PROTOCOL'),
        );
      }
      const longer = new Uint8Array(bytes.length + 1);
      longer.set(bytes);
      assert.throws(
        () => protocol.decode(longer),
        (error) => isUnspentError(error, 'PROTOCOL'),
      );
    }
    assert.deepEqual([...kinds], [], 'every kind of message is here');
    assert.throws(
      () => protocol.decode(Uint8Array.of(0x81, 0x18, 99)),
      (error) => isUnspentError(error, 'PROTOCOL'),
    );
  });
}
