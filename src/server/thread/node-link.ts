/**
 * The node that is followed, on the side that follows it: takes what the
 * server's readers submit, and is asked about its ledger. A node that does not
 * answer in time is unreachable, so that nobody waits for ever.
 */
import type { LedgerAnswers, LedgerQuestion } from '../../sources/source.ts';
import type { FollowState } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import { SUBMIT_MS_MAX, SUBMITS_MAX } from '../../util/limits.ts';

/** The node that is followed, wherever that is known. */
export interface FollowedNode {
  /** Hands a transaction to it; its id. Throws TX_REFUSED with the node's own words, SOURCE_UNREACHABLE, and UNSUPPORTED where none is followed that takes any. */
  submit(raw: Uint8Array): Promise<Uint8Array>;
  /** Protocol parameters and clock, and what else is asked. Throws SOURCE_UNREACHABLE, and UNSUPPORTED where none is followed that answers. */
  ledger(question?: LedgerQuestion): Promise<LedgerAnswers>;
}

export class NodeLink implements FollowedNode {
  private readonly store: { readonly following: FollowState | null };
  /** Questions that are on their way. */
  private asked = 0;

  constructor(store: { readonly following: FollowState | null }) {
    this.store = store;
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    const { mempool, ledger, name } = this.source('take a transaction');
    const taker = mempool ?? ledger;
    if (taker === undefined) throw new UnspentError('UNSUPPORTED', `${name} is followed, and it takes no transactions`);
    return await this.inTime(() => taker.submit(raw), name, '; it may have taken the transaction');
  }

  async ledger(question?: LedgerQuestion): Promise<LedgerAnswers> {
    const { ledger, name } = this.source('ask about its ledger');
    if (ledger === undefined) {
      const message = `${name} is followed, and it says nothing of its ledger: protocol parameters take the local socket of a node (n2c:PATH)`;
      throw new UnspentError('UNSUPPORTED', message);
    }
    return await this.inTime(() => ledger.answers(question), name, '');
  }

  private source(what: string): FollowState['source'] {
    const { following } = this.store;
    if (following === null) throw new UnspentError('UNSUPPORTED', `nothing is followed, so there is no node to ${what}`);
    return following.source;
  }

  private async inTime<T>(ask: () => Promise<T>, name: string, perhaps: string): Promise<T> {
    if (this.asked >= SUBMITS_MAX)
      throw new UnspentError('BUSY', `${this.asked} questions and transactions are on their way to the node already`);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const message = `${name} did not answer in ${SUBMIT_MS_MAX / 1000} s${perhaps}`;
    const timer = setTimeout(() => reject(new UnspentError('SOURCE_UNREACHABLE', message)), SUBMIT_MS_MAX);
    this.asked++;
    try {
      return await Promise.race([ask(), late]);
    } finally {
      this.asked--;
      clearTimeout(timer);
    }
  }
}
