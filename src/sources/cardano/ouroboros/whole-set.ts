/**
 * The whole unspent set of a local node, with the block it is of.
 *
 * The block is the first one behind the node's immutable tip: nobody will go
 * back below it, so a store that begins with it can follow every rollback of
 * the node, and the node still has its state. Over this socket a block can only
 * be had as the next one behind a point, which is why it is not the immutable
 * tip itself.
 */
import type { CardanoBlock } from '../../../ledgers/cardano/decode.ts';
import { ERA } from '../../../ledgers/cardano/header.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { concatBytes, writeU32 } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS, NODE_SET_BATCH_BYTES, SETTLED_BLOCK_ATTEMPTS, WHOLE_SET_BYTES_MAX } from '../../../util/limits.ts';
import { dial } from '../../dial.ts';
import type { NodeOutput, NodeSet } from '../../node-set.ts';
import { parseAddress } from './address.ts';
import { readUnannouncedBlock } from './announced-header.ts';
import { CHAIN_SYNC_N2C, type ChainSyncMessage, type ChainSyncState } from './chain-sync.ts';
import { LedgerView } from './ledger-view.ts';
import type { LocalNodeOptions } from './local-node.ts';
import { LOCAL_STATE_QUERY, type StateQueryMessage, type StateQueryState } from './local-state-query.ts';
import { Mux } from './mux.ts';
import { proposeVersions } from './negotiate.ts';
import type { WirePoint } from './point.ts';
import { violation } from './protocol.ts';
import { encodeQuestion, type UtxoEntry } from './queries.ts';
import { Session } from './session.ts';
import { UtxoSplitter } from './utxo-splitter.ts';

type ChainSession = Session<ChainSyncMessage, ChainSyncState>;

/** `n2c:PATH`. Throws USAGE, SOURCE_UNREACHABLE, NETWORK_WRONG, UNSUPPORTED, PROTOCOL. */
export async function openWholeSet(
  url: string,
  { magic, byronEpochSlots }: LocalNodeOptions,
  signal: AbortSignal | undefined,
): Promise<NodeSet> {
  const address = parseAddress(url);
  if (address.wire !== 'n2c')
    throw new UnspentError('USAGE', `a node tells its whole set over its local socket, n2c:PATH, not over '${url}'`);
  const mux = new Mux(await dial(address, CONNECT_MS, signal ?? new AbortController().signal), { peer: url });
  try {
    await proposeVersions(mux, 'n2c', magic);
    return await new WholeSet(mux, byronEpochSlots).acquire();
  } catch (error) {
    await mux.close();
    throw error;
  }
}

class WholeSet {
  private readonly mux: Mux;
  private readonly byronEpochSlots: number;
  private readonly ledger: Session<StateQueryMessage, StateQueryState>;
  private readonly chain: ChainSession;

  constructor(mux: Mux, byronEpochSlots: number) {
    this.mux = mux;
    this.byronEpochSlots = byronEpochSlots;
    this.ledger = new Session(mux, LOCAL_STATE_QUERY, 'initiator');
    this.chain = new Session(mux, CHAIN_SYNC_N2C, 'initiator');
  }

  async acquire(): Promise<NodeSet> {
    for (let attempt = 1; ; attempt++) {
      const { point } = await LedgerView.at(this.ledger, { at: 'immutableTip' }, (view) => view.tip());
      const block = await this.blockBehind(point);
      try {
        return this.set(block, await this.hold(block));
      } catch (error) {
        // The node's immutable tip has moved past it in the meantime.
        if (!isUnspentError(error, 'POINT_UNKNOWN') || attempt === SETTLED_BLOCK_ATTEMPTS) throw error;
      }
    }
  }

  private async blockBehind(point: WirePoint): Promise<CardanoBlock> {
    const { chain, mux } = this;
    chain.send({ kind: 'findIntersect', points: [point] });
    const found = await chain.receive();
    if (found.kind !== 'intersectFound') throw violation(`'${found.kind}' in answer to its own immutable tip`);
    for (;;) {
      chain.send({ kind: 'requestNext' });
      const answer = await chain.receive();
      // The first answer goes back to the point that was found.
      if (answer.kind === 'rollBackward') continue;
      if (answer.kind === 'rollForward') return readUnannouncedBlock(answer.content, this.byronEpochSlots);
      throw new UnspentError('SOURCE_UNREACHABLE', `${mux.peer} has no block behind its immutable tip yet: it is still starting`);
    }
  }

  /** Acquires the state after the block; returns the index of its era. */
  private async hold({ slot, hash, era }: CardanoBlock): Promise<number> {
    // Ledgers change the set by themselves when Allegra begins, and what they change is marked in blocks only.
    if (era < ERA.allegra)
      throw new UnspentError(
        'UNSUPPORTED',
        'a store can begin with the set of a node from Allegra on; sync this chain from its first block',
        { era },
      );
    const { ledger } = this;
    ledger.send({ kind: 'acquire', target: { at: 'point', point: { slot, hash } } });
    const answer = await ledger.receive();
    if (answer.kind === 'acquired') return era - 1;
    throw new UnspentError('POINT_UNKNOWN', `${this.mux.peer} no longer has the state after its block at slot ${slot}`);
  }

  private set(block: CardanoBlock, eraIndex: number): NodeSet {
    const { mux } = this;
    return {
      name: mux.peer,
      header: block.headerBytes.slice(),
      era: block.era,
      height: block.height,
      count: null,
      setHash: null,
      lacks: 'block',
      batches: (signal) => this.batches(eraIndex, signal),
      close: () => mux.close(),
    };
  }

  private async *batches(eraIndex: number, signal: AbortSignal | undefined): AsyncGenerator<readonly NodeOutput[], void, undefined> {
    const { ledger, mux } = this;
    const stop = (): void => mux.fail(new UnspentError('INTERRUPTED', `interrupted while ${mux.peer} was telling its set`));
    signal?.addEventListener('abort', stop);
    try {
      if (signal?.aborted) stop();
      ledger.send({ kind: 'query', query: encodeQuestion({ about: 'era', eraIndex, question: { about: 'utxoWhole' } }) });
      const splitter = new UtxoSplitter(WHOLE_SET_BYTES_MAX);
      let outputs: NodeOutput[] = [];
      let bytes = 0;
      for await (const part of ledger.receiveInParts('result', WHOLE_SET_BYTES_MAX)) {
        for (const entry of splitter.entries(part, ledger.state === 'acquired')) outputs.push(outputOf(entry));
        bytes += part.length;
        if (bytes < NODE_SET_BATCH_BYTES) continue;
        yield outputs;
        outputs = [];
        bytes = 0;
      }
      if (outputs.length > 0) yield outputs;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}

function outputOf({ input: { txId, index }, output }: UtxoEntry): NodeOutput {
  const number = new Uint8Array(OUTPOINT_BYTES - TXID_BYTES);
  writeU32(number, 0, index);
  const bytes = concatBytes(txId, number, output);
  return { bytes, keyAt: 0, start: OUTPOINT_BYTES, end: bytes.length, height: null, flags: 0 };
}
