/**
 * A second, independent codec: what we write it reads, and what it writes from
 * that we read as the same message.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2N } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import { wrapBlock, wrapHeader } from '../../../../src/sources/cardano/ouroboros/envelope.ts';
import { encodeVersionData, HANDSHAKE } from '../../../../src/sources/cardano/ouroboros/handshake.ts';
import { KEEP_ALIVE } from '../../../../src/sources/cardano/ouroboros/keep-alive.ts';
import { LOCAL_STATE_QUERY } from '../../../../src/sources/cardano/ouroboros/local-state-query.ts';
import { LOCAL_TX_MONITOR } from '../../../../src/sources/cardano/ouroboros/local-tx-monitor.ts';
import type { Message, Protocol } from '../../../../src/sources/cardano/ouroboros/protocol.ts';
import { encodeQuestion } from '../../../../src/sources/cardano/ouroboros/queries.ts';

interface TheirMessage {
  toCbor(): { toBuffer(): Uint8Array };
}
type Read = (cbor: unknown) => TheirMessage;
interface TheirCbor {
  parse(bytes: Uint8Array): unknown;
}

const PACKAGE = '@harmoniclabs/ouroboros-miniprotocols-ts';
const CBOR_PACKAGE = '@harmoniclabs/cbor';
const theirs = await load(PACKAGE);
const cbor = await load(CBOR_PACKAGE);
const skip = theirs === null || cbor === null ? `needs the development dependency ${PACKAGE}, which is not installed` : false;

async function load(name: string): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const module = (await import(name)) as Readonly<Record<string, unknown>>;
    return { ...(module['default'] as object | undefined), ...module };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const HASH = new Uint8Array(32).fill(9);
const POINT = { slot: 70_000_000, hash: HASH };
const TIP = { point: POINT, height: 3_000_000 };
const data = (version: number): Uint8Array =>
  encodeVersionData(version, { magic: 2, query: false, initiatorOnly: true, peerSharing: false });

/** It reads these as we write them, but writes them itself with the number of `release`; the specification is on our side. */
const MISPRINTS: ReadonlySet<string> = new Set(['local-tx-monitor, acquire', 'local-tx-monitor, getSizes']);

describe('another implementation', () => {
  both('handshakeMessageFromCborObj', HANDSHAKE, [
    { kind: 'propose', versions: [14, 15].map((version) => ({ version, data: data(version) })) },
    { kind: 'accept', version: 14, data: data(14) },
    { kind: 'refuse', reason: { why: 'versionMismatch', versions: [14, 15] } },
  ]);
  both('chainSyncMessageFromCborObj', CHAIN_SYNC_N2N, [
    { kind: 'requestNext' },
    { kind: 'awaitReply' },
    { kind: 'rollForward', content: wrapHeader({ era: 7, header: HASH, blockBytes: null }), tip: TIP },
    { kind: 'rollForward', content: wrapBlock(HASH), tip: TIP },
    { kind: 'rollBackward', point: POINT, tip: TIP },
    { kind: 'rollBackward', point: null, tip: TIP },
    { kind: 'findIntersect', points: [POINT, null] },
    { kind: 'intersectFound', point: POINT, tip: TIP },
    { kind: 'intersectNotFound', tip: TIP },
    { kind: 'done' },
  ]);
  both('blockFetchMessageFromCborObj', BLOCK_FETCH, [
    { kind: 'requestRange', from: POINT, to: POINT },
    { kind: 'clientDone' },
    { kind: 'startBatch' },
    { kind: 'noBlocks' },
    { kind: 'block', raw: Uint8Array.of(0x82, 0x07, 0x80) },
    { kind: 'batchDone' },
  ]);
  both('keepAliveMessageFromCborObj', KEEP_ALIVE, [
    { kind: 'keepAlive', cookie: 513 },
    { kind: 'response', cookie: 513 },
    { kind: 'done' },
  ]);
  both('localStateQueryMessageFromCborObj', LOCAL_STATE_QUERY, [
    { kind: 'acquire', target: { at: 'point', point: POINT } },
    { kind: 'acquire', target: { at: 'volatileTip' } },
    { kind: 'acquired' },
    { kind: 'failure', reason: 'pointNotOnChain' },
    { kind: 'query', query: encodeQuestion({ about: 'chainPoint' }) },
    { kind: 'result', result: Uint8Array.of(0x06) },
    { kind: 'release' },
    { kind: 'done' },
  ]);
  both('txMonitorMessageFromCborObj', LOCAL_TX_MONITOR, [
    { kind: 'acquire' },
    { kind: 'acquired', slot: 5 },
    { kind: 'release' },
    { kind: 'nextTx' },
    { kind: 'replyNextTx', tx: null },
    { kind: 'getSizes' },
    { kind: 'replyGetSizes', sizes: { capacityBytes: 178_176, sizeBytes: 300, txs: 1 } },
    { kind: 'done' },
  ]);
});

function both<M extends Message, S extends string>(reader: string, protocol: Protocol<M, S>, messages: readonly M[]): void {
  const read = theirs?.[reader] as Read | undefined;
  for (const message of messages) {
    it(`${protocol.name}, ${message.kind}`, { skip: skip || (read === undefined && `${reader} is not in the installed version`) }, () => {
      assert.ok(cbor !== null && read !== undefined);
      const parsed = (cbor['Cbor'] as TheirCbor).parse(protocol.encode(message));
      const written = read(parsed).toCbor().toBuffer();
      if (MISPRINTS.has(`${protocol.name}, ${message.kind}`)) {
        assert.deepEqual(Uint8Array.from(written), Uint8Array.of(0x81, 0x03), 'the misprint is gone: compare it like the others');
        return;
      }
      assert.deepEqual(protocol.decode(Uint8Array.from(written)), message);
    });
  }
}
