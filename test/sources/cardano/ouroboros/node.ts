/**
 * A small node for tests: serves a devnet chain over N2N and N2C to any number
 * of clients, and can be told to misbehave. Written from the protocol's tables,
 * in the plainest way.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DevnetBlock, DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2C, CHAIN_SYNC_N2N, type ChainSync } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import { headerOfBlock, type WrappedTx, wrapBlock, wrapHeader } from '../../../../src/sources/cardano/ouroboros/envelope.ts';
import type { Wire } from '../../../../src/sources/cardano/ouroboros/handshake.ts';
import { KEEP_ALIVE } from '../../../../src/sources/cardano/ouroboros/keep-alive.ts';
import { LOCAL_STATE_QUERY } from '../../../../src/sources/cardano/ouroboros/local-state-query.ts';
import { LOCAL_TX_MONITOR } from '../../../../src/sources/cardano/ouroboros/local-tx-monitor.ts';
import { LOCAL_TX_SUBMISSION } from '../../../../src/sources/cardano/ouroboros/local-tx-submission.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { answerVersions } from '../../../../src/sources/cardano/ouroboros/negotiate.ts';
import type { WirePoint, WireTip } from '../../../../src/sources/cardano/ouroboros/point.ts';
import {
  decodeQuestion,
  type Question,
  writeChainPoint,
  writeEraResult,
  writeHeight,
  writeUtxo,
} from '../../../../src/sources/cardano/ouroboros/queries.ts';
import { Session } from '../../../../src/sources/cardano/ouroboros/session.ts';
import { equalBytes, fromHex } from '../../../../src/util/bytes.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';

const CONWAY_INDEX = 6;

export class TestNode {
  readonly chain: DevnetChain;
  readonly magic: number;
  readonly mempool: WrappedTx[] = [];
  connections = 0;
  /** Changes a block on its way out of block-fetch or local chain-sync. */
  spoil: ((raw: Uint8Array) => Uint8Array) | null = null;
  /** Runs before a client's message is answered, with the number of answers so far. */
  before: ((answers: number, mux: Mux, kind: string) => void) | null = null;
  /** The next range is never answered. */
  stall = false;
  /** Times that block-fetch had no blocks. */
  withheld = 0;
  private readonly servers: Server[] = [];
  private readonly muxes = new Set<Mux>();
  private waiting: (() => void)[] = [];
  private answers = 0;

  constructor(chain: DevnetChain, magic = 42) {
    this.chain = chain;
    this.magic = magic;
  }

  /** Gives the URL to reach it by. */
  async listen(wire: Wire): Promise<string> {
    const server = createServer((socket) => this.serve(socket, wire));
    this.servers.push(server);
    const path = join(tmpdir(), `unspent-test-${process.pid}-${Math.random().toString(36).slice(2)}.sock`);
    if (wire === 'n2c') server.listen(path);
    else server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return wire === 'n2c' ? `n2c:${path}` : `n2n://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  mine(blocks: number): void {
    for (let i = 0; i < blocks; i++) this.chain.mine();
    this.changed();
  }

  /** Another branch, one block longer. */
  fork(depth: number): void {
    this.chain.fork(depth);
    this.changed();
  }

  changed(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  /** Drops every client. */
  cut(): void {
    for (const mux of this.muxes) void mux.close();
  }

  async close(): Promise<void> {
    this.cut();
    this.changed();
    await Promise.all([...this.muxes].map((mux) => mux.closed));
    for (const server of this.servers) {
      server.close();
      if (server.listening) await once(server, 'close');
    }
  }

  private serve(socket: Socket, wire: Wire): void {
    this.connections++;
    socket.setNoDelay(true);
    const mux = new Mux(socket, { peer: 'the client' });
    this.muxes.add(mux);
    void mux.closed.then(() => this.muxes.delete(mux));
    const loops = wire === 'n2n' ? this.n2n(mux) : this.n2c(mux);
    const start = async (): Promise<void> => {
      if ((await answerVersions(mux, wire, this.magic)) === null) await mux.close();
      else await Promise.all(loops.map((loop) => loop()));
    };
    // A client that leaves ends its loops; that is not an error of the test.
    start().catch(() => mux.close());
  }

  private n2n(mux: Mux): (() => Promise<void>)[] {
    const fetch = new Session(mux, BLOCK_FETCH, 'responder');
    const alive = new Session(mux, KEEP_ALIVE, 'responder');
    return [
      this.chainSync(mux, CHAIN_SYNC_N2N, (block) => wrapHeader(headerOfBlock(block.raw))),
      async () => {
        for (;;) {
          const message = await fetch.receive();
          this.before?.(this.answers++, mux, message.kind);
          if (message.kind !== 'requestRange') return;
          if (this.stall) {
            this.stall = false;
            await mux.closed;
            return;
          }
          const [from, to] = [this.find(message.from), this.find(message.to)];
          if (from < 0 || to < from) {
            this.withheld++;
            fetch.send({ kind: 'noBlocks' });
            continue;
          }
          const blocks = this.chain.blocks.slice(from, to + 1);
          fetch.send({ kind: 'startBatch' });
          for (const { raw } of blocks) {
            fetch.send({ kind: 'block', raw: this.spoil?.(raw) ?? raw });
            await fetch.drained();
          }
          fetch.send({ kind: 'batchDone' });
        }
      },
      async () => {
        for (let m = await alive.receive(); m.kind === 'keepAlive'; m = await alive.receive()) {
          alive.send({ kind: 'response', cookie: m.cookie });
        }
      },
    ];
  }

  private n2c(mux: Mux): (() => Promise<void>)[] {
    const submission = new Session(mux, LOCAL_TX_SUBMISSION, 'responder');
    const state = new Session(mux, LOCAL_STATE_QUERY, 'responder');
    const monitor = new Session(mux, LOCAL_TX_MONITOR, 'responder');
    return [
      this.chainSync(mux, CHAIN_SYNC_N2C, (block) => wrapBlock(this.spoil?.(block.raw) ?? block.raw)),
      async () => {
        for (let m = await submission.receive(); m.kind === 'submit'; m = await submission.receive()) {
          if (m.tx.tx.length > 1000) submission.send({ kind: 'reject', reason: Uint8Array.of(0x81, 0x07) });
          else {
            this.mempool.push(m.tx);
            submission.send({ kind: 'accept' });
          }
        }
      },
      async () => {
        for (let m = await state.receive(); m.kind !== 'done'; m = await state.receive()) {
          if (m.kind === 'query') state.send({ kind: 'result', result: this.answer(decodeQuestion(m.query)) });
          else if (m.kind === 'acquire' || m.kind === 'reAcquire') {
            const known = m.target.at !== 'point' || this.find(m.target.point) === this.chain.blocks.length - 1;
            state.send(known ? { kind: 'acquired' } : { kind: 'failure', reason: 'pointNotOnChain' });
          }
        }
      },
      async () => {
        let next = 0;
        for (let m = await monitor.receive(); m.kind !== 'done'; m = await monitor.receive()) {
          if (m.kind === 'acquire') {
            next = 0;
            monitor.send({ kind: 'acquired', slot: this.chain.tip?.slot ?? 0 });
          } else if (m.kind === 'nextTx') monitor.send({ kind: 'replyNextTx', tx: this.mempool[next++] ?? null });
          else if (m.kind === 'hasTx') {
            const { id } = m.id;
            monitor.send({ kind: 'replyHasTx', has: this.mempool.some(({ tx }) => equalBytes(tx.subarray(0, 32), id)) });
          } else if (m.kind === 'getSizes') {
            monitor.send({ kind: 'replyGetSizes', sizes: { capacityBytes: 1000, sizeBytes: 1, txs: this.mempool.length } });
          }
        }
      },
    ];
  }

  private chainSync(mux: Mux, protocol: ChainSync, content: (block: DevnetBlock) => Uint8Array): () => Promise<void> {
    const session = new Session(mux, protocol, 'responder');
    let path: DevnetBlock[] = [];
    let isFresh = false;
    const next = async (): Promise<void> => {
      const { blocks } = this.chain;
      const kept = path.findIndex((block, i) => blocks[i] !== block);
      if (kept >= 0 || isFresh) {
        if (kept >= 0) path = path.slice(0, kept);
        isFresh = false;
        session.send({ kind: 'rollBackward', point: pointOf(path.at(-1)), tip: this.tip });
      } else if (path.length < blocks.length) {
        const block = blocks[path.length];
        path.push(block);
        session.send({ kind: 'rollForward', content: content(block), tip: this.tip });
        await session.drained();
      } else {
        if (session.state === 'canAwait') session.send({ kind: 'awaitReply' });
        await Promise.race([
          mux.closed,
          new Promise<void>((resolve) => {
            this.waiting.push(resolve);
          }),
        ]);
        if (mux.failure !== null) throw mux.failure;
        await next();
      }
    };
    return async () => {
      for (;;) {
        const message = await session.receive();
        this.before?.(this.answers++, mux, message.kind);
        if (message.kind === 'requestNext') await next();
        else if (message.kind === 'findIntersect') {
          const found = message.points.find((point) => point === null || this.find(point) >= 0);
          if (found === undefined) session.send({ kind: 'intersectNotFound', tip: this.tip });
          else {
            path = this.chain.blocks.slice(0, found === null ? 0 : this.find(found) + 1);
            isFresh = true;
            session.send({ kind: 'intersectFound', point: found, tip: this.tip });
          }
        } else return;
      }
    };
  }

  private answer(question: Question | null): Uint8Array {
    if (question?.about === 'chainPoint') return writeChainPoint(this.tip.point);
    if (question?.about === 'chainHeight') return writeHeight(this.chain.tip?.height ?? null);
    if (question?.about === 'currentEra') return Uint8Array.of(CONWAY_INDEX);
    if (question?.about !== 'era') return Uint8Array.of(0x80);
    const { question: inner, eraIndex } = question;
    if (eraIndex !== CONWAY_INDEX) return Uint8Array.of(0x82, 0x00, 0x00);
    if (inner.about === 'epoch') return writeEraResult(new CborWriter().uint(Math.floor((this.chain.tip?.slot ?? 0) / 100)).take());
    if (inner.about === 'parameters' || inner.about === 'genesisConfig') return writeEraResult(Uint8Array.of(0x80));
    const chosen = [...this.chain.utxos.values()].filter(({ txId, index, addressHex }) => {
      if (inner.about === 'utxoByInput') return inner.inputs.some((each) => each.index === index && equalBytes(each.txId, txId));
      if (inner.about === 'utxoByAddress') return inner.addresses.some((each) => equalBytes(each, fromHex(addressHex)));
      return true;
    });
    return writeEraResult(writeUtxo(chosen.map(({ txId, index, output }) => ({ input: { txId, index }, output }))));
  }

  private find(point: WirePoint): number {
    return point === null ? -1 : this.chain.blocks.findIndex(({ hash }) => equalBytes(hash, point.hash));
  }

  private get tip(): WireTip {
    return { point: pointOf(this.chain.tip), height: this.chain.tip?.height ?? 0 };
  }
}

function pointOf(block: DevnetBlock | undefined): WirePoint {
  return block === undefined ? null : { slot: block.slot, hash: block.hash };
}
