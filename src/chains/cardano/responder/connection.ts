/**
 * One client from handshake to goodbye: every mini-protocol of its kind of
 * connection is served until the client is done or gone. Whatever it held of
 * the chain is given back then.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BLOCK_FETCH } from '../../../sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2C, CHAIN_SYNC_N2N } from '../../../sources/cardano/ouroboros/chain-sync.ts';
import type { Wire } from '../../../sources/cardano/ouroboros/handshake.ts';
import { KEEP_ALIVE, type KeepAliveMessage, type KeepAliveState } from '../../../sources/cardano/ouroboros/keep-alive.ts';
import { LOCAL_STATE_QUERY } from '../../../sources/cardano/ouroboros/local-state-query.ts';
import { LOCAL_TX_MONITOR } from '../../../sources/cardano/ouroboros/local-tx-monitor.ts';
import { LOCAL_TX_SUBMISSION } from '../../../sources/cardano/ouroboros/local-tx-submission.ts';
import { Mux } from '../../../sources/cardano/ouroboros/mux.ts';
import { answerVersions } from '../../../sources/cardano/ouroboros/negotiate.ts';
import type { Message, Protocol } from '../../../sources/cardano/ouroboros/protocol.ts';
import { Session } from '../../../sources/cardano/ouroboros/session.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../../util/limits.ts';
import type { ServedChain } from './chain.ts';
import { serveBlockFetch } from './serve-block-fetch.ts';
import { type ChainSyncSession, serveChainSync, type WalkedChain } from './serve-chain-sync.ts';
import { serveTxMonitor, serveTxSubmission } from './serve-mempool.ts';
import { serveStateQuery } from './serve-state-query.ts';

/** Between nodes a peer may offer us transactions and never be asked for them. */
const TX_SUBMISSION_BETWEEN_NODES = 4;
const KEEP_ALIVE_SOCKET_MS = 60_000;
/** Of the chain-sync request for the next header or block. */
const REQUEST_NEXT_BYTES = 2;

/** A mini-protocol with its session open, ready to be served. */
type Service = () => Promise<void>;

/** What stands between a chain and its client. Tests of clients pass one that misbehaves. */
export interface Wiring {
  stream(socket: Socket): Duplex;
  protocol<M extends Message, S extends string>(protocol: Protocol<M, S>): Protocol<M, S>;
  /** `waiting`: how many requests the client has sent behind the one that is answered. */
  chain(chain: ServedChain, waiting: () => number): WalkedChain;
  magic(magic: number): number;
}

export const PLAIN_WIRING: Wiring = {
  stream: (socket) => socket,
  protocol: (protocol) => protocol,
  chain: (chain) => chain,
  magic: (magic) => magic,
};

export class Connection {
  readonly wire: Wire;
  readonly peer: string;
  private readonly mux: Mux;
  private readonly chain: ServedChain;
  private readonly wiring: Wiring;

  constructor(socket: Socket, wire: Wire, peer: string, chain: ServedChain, wiring: Wiring) {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_SOCKET_MS);
    this.wire = wire;
    this.peer = peer;
    this.chain = chain;
    this.wiring = wiring;
    this.mux = new Mux(wiring.stream(socket), { peer });
  }

  /** Serves until the end and tells how it came to it; null: the client said goodbye. Never rejects for what a client does. */
  async serve(): Promise<UnspentError | null> {
    const services = this.wire === 'n2n' ? this.betweenNodes() : this.local();
    try {
      const agreed = await answerVersions(this.mux, this.wire, this.wiring.magic(this.chain.network.magic));
      if (agreed !== null) await Promise.all(services.map((service) => this.guard(service)));
      await this.mux.close();
      return null;
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      this.mux.fail(error);
      await this.mux.closed;
      return error;
    }
  }

  /** Cuts it, without a goodbye. */
  async cut(): Promise<void> {
    this.mux.fail(new UnspentError('CLOSED', `the connection to ${this.peer} was cut by us`));
    await this.mux.closed;
  }

  close(): Promise<void> {
    return this.mux.close();
  }

  /**
   * The first protocol to fail takes the others with it, so that each lets go of
   * what it holds. If it failed because we cannot answer, what the others have
   * answered still goes out: a transaction that was accepted must be told so.
   */
  private async guard(service: Service): Promise<void> {
    try {
      await service();
    } catch (error) {
      if (isUnspentError(error, 'UNSUPPORTED')) void this.mux.close();
      this.mux.fail(error instanceof UnspentError ? error : new UnspentError('CLOSED', 'an error of ours', {}, error));
      throw error;
    }
  }

  private chainSync(session: ChainSyncSession): Promise<void> {
    const waiting = (): number => session.channel.ingress.unread / REQUEST_NEXT_BYTES;
    return serveChainSync(session, this.wiring.chain(this.chain, waiting), this.wire);
  }

  private betweenNodes(): Service[] {
    const { mux, chain, wiring } = this;
    const chainSync = new Session(mux, wiring.protocol(CHAIN_SYNC_N2N), 'responder');
    const blockFetch = new Session(mux, wiring.protocol(BLOCK_FETCH), 'responder');
    const keepAlive = new Session(mux, wiring.protocol(KEEP_ALIVE), 'responder');
    mux.channel(TX_SUBMISSION_BETWEEN_NODES, 'responder');
    return [() => this.chainSync(chainSync), () => serveBlockFetch(blockFetch, chain), () => serveKeepAlive(keepAlive)];
  }

  private local(): Service[] {
    const { mux, chain, wiring } = this;
    const chainSync = new Session(mux, wiring.protocol(CHAIN_SYNC_N2C), 'responder');
    const submission = new Session(mux, wiring.protocol(LOCAL_TX_SUBMISSION), 'responder');
    const stateQuery = new Session(mux, wiring.protocol(LOCAL_STATE_QUERY), 'responder');
    const monitor = new Session(mux, wiring.protocol(LOCAL_TX_MONITOR), 'responder');
    return [
      () => this.chainSync(chainSync),
      () => serveTxSubmission(submission, chain),
      () => serveStateQuery(stateQuery, chain),
      () => serveTxMonitor(monitor, chain),
    ];
  }
}

async function serveKeepAlive(session: Session<KeepAliveMessage, KeepAliveState>): Promise<void> {
  // A client may never begin; once it has, it must go on within the protocol's time.
  const first = KEEP_ALIVE.decode(await session.channel.receive(MESSAGE_BYTES_MAX, null, KEEP_ALIVE.name));
  for (let message = first; message.kind === 'keepAlive'; message = await session.receive()) {
    const reply = { kind: 'response', cookie: message.cookie } as const;
    // The first was taken past the session, which therefore still waits for one.
    if (message === first) session.channel.send(session.protocol.encode(reply));
    else session.send(reply);
  }
}
