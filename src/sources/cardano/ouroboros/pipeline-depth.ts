/**
 * How many requests of one mini-protocol a peer may be sent before it has
 * answered the first. Peers differ: the reference takes 300 chain-sync requests,
 * gouroboros 0.125 cuts the connection beyond 50. Nothing on the wire says so,
 * hence it is found out: if a peer closes the connection soon after so many
 * requests were outstanding for the first time, the depth is halved, and kept
 * for that peer as long as the source is followed.
 */
import { UnspentError } from '../../../util/errors.ts';
import { CHAIN_SYNC_AHEAD_MAX, CHAIN_SYNC_LOCAL_AHEAD_MAX, FETCH_RANGES_MAX, PIPELINE_TRIAL_FACTOR } from '../../../util/limits.ts';
import type { Wire } from './handshake.ts';

/** One mini-protocol towards one peer; outlives the connection. */
export class PipelineDepth {
  readonly protocol: string;
  /** Requests outstanding at most. */
  max: number;
  private outstanding = 0;
  /** The most that were outstanding on this connection, and the answers that came since. */
  private deepest = 0;
  private answersSince = 0;

  constructor(protocol: string, max: number) {
    this.protocol = protocol;
    this.max = max;
  }

  /** A new connection: nothing is outstanding on it. */
  begin(): void {
    this.outstanding = 0;
    this.deepest = 0;
    this.answersSince = 0;
  }

  asked(): void {
    if (++this.outstanding <= this.deepest) return;
    this.deepest = this.outstanding;
    this.answersSince = 0;
  }

  answered(): void {
    this.outstanding--;
    this.answersSince++;
  }

  get unanswered(): number {
    return this.outstanding;
  }

  /** Whether a connection that ends now may have ended because of how many requests are outstanding. */
  get isOnTrial(): boolean {
    return this.outstanding > 1 && this.answersSince < PIPELINE_TRIAL_FACTOR * this.deepest;
  }

  /** From the depth that was reached, since a limit above it changes nothing. */
  halve(): void {
    this.max = Math.max(1, Math.floor(this.deepest / 2));
  }
}

/** Of one peer; over `n2c` nothing is fetched. */
export interface PeerDepths {
  readonly chainSync: PipelineDepth;
  readonly blockFetch: PipelineDepth;
}

/** Of a peer that nothing is known of. */
export function usualDepths(wire: Wire): PeerDepths {
  return {
    chainSync: new PipelineDepth('chain-sync', wire === 'n2n' ? CHAIN_SYNC_AHEAD_MAX : CHAIN_SYNC_LOCAL_AHEAD_MAX),
    blockFetch: new PipelineDepth('block-fetch', FETCH_RANGES_MAX),
  };
}

/**
 * What to tell of a connection that the peer closed: as it is, or, when the peer
 * may have refused so many requests, that fewer will be sent from now on (the
 * error's `adapted`). Of two mini-protocols the one with more requests
 * outstanding is taken to be the cause.
 */
export function explainClosing(error: unknown, peer: string, { chainSync, blockFetch }: PeerDepths): unknown {
  if (!(error instanceof UnspentError) || error.meta['closedByPeer'] !== true) return error;
  const [cause] = [chainSync, blockFetch].filter((depth) => depth.isOnTrial).sort((a, b) => b.unanswered - a.unanswered);
  if (cause === undefined) return error;
  const { protocol, unanswered } = cause;
  cause.halve();
  const message =
    `${peer} closed the connection while ${unanswered} ${protocol} requests of ours were unanswered; ` +
    `it may allow fewer, so it is asked again with at most ${cause.max} at a time`;
  return new UnspentError(error.code, message, { ...error.meta, protocol, unanswered, depth: cause.max, adapted: true }, error);
}
