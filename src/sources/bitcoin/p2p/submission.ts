/**
 * One transaction on its way to a node. Newer nodes say nothing to it: neither
 * that they took it nor what they have against it. But they pass on what they
 * took, to everybody except the one they have it from. So a second connection
 * listens, and what it hears is the answer; how the first is spoken to may be an
 * earlier one.
 */
import { type BitcoinTx, describeTx, formatId } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { P2P_SUBMIT_MS } from '../../../util/limits.ts';
import type { Link } from './link.ts';
import { ITEM, type Item, type Message } from './messages.ts';

/** A connection that was greeted, and what comes over it from then on. */
export interface Ear {
  readonly link: Link;
  readonly messages: AsyncIterable<Message>;
}

export class Submission {
  /** Resolves when the node took it. Rejects with TX_REFUSED or SOURCE_UNREACHABLE. */
  readonly answer: Promise<void>;
  private readonly tx: BitcoinTx;
  private readonly link: Link;
  private readonly parents: ReadonlySet<string>;
  private readonly taken: () => void;
  private readonly failed: (error: UnspentError) => void;

  constructor(tx: BitcoinTx, link: Link, ear: Ear, timeScale: number) {
    this.tx = tx;
    this.link = link;
    this.parents = new Set(describeTx(tx).inputs.map(({ txId }) => toHex(txId)));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = 'the node neither passed it on nor said why: it has it already, or its fee or form is not to its liking';
    const timer = setTimeout(() => reject(this.refused(late)), P2P_SUBMIT_MS * timeScale);
    this.answer = promise.finally(() => clearTimeout(timer));
    this.taken = resolve;
    this.failed = reject;
    void this.listen(ear);
    // Nodes take one that was not announced, and at once; an announced one they ask for seconds later.
    link.send({ kind: 'tx', raw: tx.raw });
  }

  /** What the node says to the connection over which it was sent. */
  handle(message: Message): void {
    if (message.kind === 'inv' && this.isNamed(message.items)) this.taken();
    else if (message.kind === 'reject' && message.hash !== null && equalBytes(message.hash, this.tx.id))
      this.failed(this.refused(message.reason));
    else if (message.kind === 'getdata') this.asked(message.items);
  }

  /** That connection ended. A node ends it over what breaks the chain's own rules. */
  cut(why: UnspentError): void {
    if (why.code === 'INTERRUPTED') this.failed(new UnspentError('SOURCE_UNREACHABLE', 'stopped before the node answered', {}, why));
    else this.failed(this.refused(`the node ended the connection: ${why.message}`));
  }

  private async listen({ link, messages }: Ear): Promise<void> {
    try {
      for await (const message of messages) {
        if (message.kind === 'inv' && this.isNamed(message.items)) return this.taken();
        if (message.kind === 'ping') link.send({ kind: 'pong', nonce: message.nonce });
      }
    } catch (error) {
      const what = `the node may have taken transaction ${formatId(this.tx.id)}: the connection that would have told was lost`;
      this.failed(new UnspentError('SOURCE_UNREACHABLE', what, {}, error));
    }
  }

  private asked(items: readonly Item[]): void {
    if (this.isNamed(items)) this.link.send({ kind: 'tx', raw: this.tx.raw });
    const missing = items.find(({ hash }) => this.parents.has(toHex(hash)));
    if (missing !== undefined) this.failed(this.refused(`the node does not know transaction ${formatId(missing.hash)}, which it spends`));
  }

  private isNamed(items: readonly Item[]): boolean {
    return items.some(({ type, hash }) => type !== ITEM.block && equalBytes(hash, this.tx.id));
  }

  private refused(reason: string): UnspentError {
    return new UnspentError('TX_REFUSED', reason, { id: formatId(this.tx.id) });
  }
}
