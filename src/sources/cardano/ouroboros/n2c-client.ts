/**
 * Talks to a local node over its socket: whole blocks over chain-sync and,
 * beside it, transactions in, questions to its ledger, and a look into its
 * mempool. Blocks are checked like those of any other peer: it costs little,
 * and disks have errors.
 */
import { FETCH_BYTES_MAX } from '../../../util/limits.ts';
import { readUnannouncedBlock } from './announced-header.ts';
import { ChainClient } from './chain-client.ts';
import { CHAIN_SYNC_N2C } from './chain-sync.ts';
import { ChainSyncClient } from './chain-sync-client.ts';
import { LedgerView } from './ledger-view.ts';
import { type AcquireTarget, LOCAL_STATE_QUERY } from './local-state-query.ts';
import { LOCAL_TX_MONITOR } from './local-tx-monitor.ts';
import { LOCAL_TX_SUBMISSION } from './local-tx-submission.ts';
import { MempoolView } from './mempool-view.ts';
import type { Mux } from './mux.ts';
import { type NegotiatedVersion, proposeVersions } from './negotiate.ts';
import { type PeerDepths, type PipelineDepth, usualDepths } from './pipeline-depth.ts';
import type { WirePoint } from './point.ts';
import { violation } from './protocol.ts';
import { Session } from './session.ts';
import { SharedSession } from './shared-session.ts';

export interface N2cOptions {
  readonly magic: number;
  readonly byronEpochSlots: number;
  /** What this peer is known to take; left out: what is usual. */
  readonly depths?: PeerDepths;
}

/** What became of a transaction; `reason` is the ledger's own account, encoded. */
export type Submitted = { readonly accepted: true } | { readonly accepted: false; readonly reason: Uint8Array };

export class N2cClient extends ChainClient {
  protected readonly sync: ChainSyncClient;
  private readonly depth: PipelineDepth;
  private readonly submission = new SharedSession(() => new Session(this.mux, LOCAL_TX_SUBMISSION, 'initiator'));
  private readonly stateQuery = new SharedSession(() => new Session(this.mux, LOCAL_STATE_QUERY, 'initiator'));
  private readonly txMonitor = new SharedSession(() => new Session(this.mux, LOCAL_TX_MONITOR, 'initiator'));

  /** Shakes hands; the stream must be fresh. */
  static async over(mux: Mux, options: N2cOptions): Promise<N2cClient> {
    return new N2cClient(mux, await proposeVersions(mux, 'n2c', options.magic), options);
  }

  private constructor(mux: Mux, agreement: NegotiatedVersion, options: N2cOptions) {
    super(mux, agreement, options.byronEpochSlots);
    this.depth = (options.depths ?? usualDepths('n2c')).chainSync;
    this.sync = new ChainSyncClient(mux, CHAIN_SYNC_N2C, this.depth);
  }

  /** Hands a transaction to the node's mempool. `eraIndex`: 6 is Conway. */
  submit(tx: Uint8Array, eraIndex: number): Promise<Submitted> {
    return this.submission.take(async (session) => {
      session.send({ kind: 'submit', tx: { eraIndex, tx } });
      const answer = await session.receive();
      if (answer.kind === 'reject') return { accepted: false, reason: answer.reason };
      if (answer.kind !== 'accept') throw violation(`'${answer.kind}' in answer to a transaction`);
      return { accepted: true };
    });
  }

  /** Questions to the ledger, all at one point. Throws POINT_UNKNOWN when the node cannot go there. */
  ask<T>(target: AcquireTarget, body: (ledger: LedgerView) => Promise<T>): Promise<T> {
    return this.stateQuery.take((session) => LedgerView.at(session, target, body));
  }

  /** A look at one state of the mempool. */
  mempool<T>(body: (mempool: MempoolView) => Promise<T>): Promise<T> {
    return this.txMonitor.take((session) => MempoolView.of(session, body));
  }

  forward(content: Uint8Array): number {
    const block = readUnannouncedBlock(content, this.byronEpochSlots);
    this.link(block);
    this.outbox.forward(block);
    return block.height;
  }

  backward(point: WirePoint): void {
    this.outbox.back(point);
    this.rewind(point);
  }

  room(): number {
    return this.outbox.bytes >= FETCH_BYTES_MAX ? 0 : this.depth.max;
  }

  settled(): void {
    this.tellReader();
  }

  protected loops(): Promise<never>[] {
    return [this.sync.run(this)];
  }

  protected isSettled(): boolean {
    return true;
  }

  protected used(): void {
    this.sync.wake();
  }
}
