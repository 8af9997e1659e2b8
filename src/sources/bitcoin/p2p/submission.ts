/**
 * One transaction on its way to a node. Newer nodes say nothing to it: neither
 * that they took it nor what they have against it. What else they do tells us:
 *
 * - They announce what they took to everybody except the one they have it from,
 *   so a second connection, opened before, waits for the announcement. Nodes
 *   let some seconds pass before it, now and then half a minute.
 * - They give it to whoever asks and could have been told of it by then. Core
 *   (from 26 on) reckons that a new connection could, so as soon as the node has
 *   read the transaction we open a third one and ask. If it is given to us it was
 *   taken; if it is not we know nothing, because older nodes keep it back.
 *
 * Earlier nodes answer the connection over which it was sent.
 *
 * TX_REFUSED means that a node said so. Silence and a lost connection say
 * nothing: the node may have the transaction, and whoever took it for refused
 * would pay a second time.
 */
import { randomBytes } from 'node:crypto';
import { type BitcoinTx, describeTx, formatId } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Link } from './link.ts';
import { ITEM, type Item, type Message } from './messages.ts';

/** A connection that was greeted, and what comes over it from then on. */
export interface OpenLink {
  readonly link: Link;
  readonly messages: AsyncIterable<Message>;
}

/** Opens one more connection to the node. */
export type Connect = () => Promise<OpenLink>;

export class Submission {
  /** Resolves when the node took it. Rejects with TX_REFUSED, or with SOURCE_UNREACHABLE: it may have taken it. */
  readonly answer: Promise<void>;
  private readonly tx: BitcoinTx;
  private readonly link: Link;
  private readonly connect: Connect;
  private readonly nonce = new Uint8Array(randomBytes(8));
  private readonly parents: ReadonlySet<string>;
  private readonly opened: Link[] = [];
  private isDone = false;
  private readonly taken: () => void;
  private readonly failed: (error: UnspentError) => void;

  /** Sends it over `link`; `observer` was opened before. */
  constructor(tx: BitcoinTx, link: Link, observer: OpenLink, connect: Connect, limitMs: number) {
    this.tx = tx;
    this.link = link;
    this.connect = connect;
    this.parents = new Set(describeTx(tx).inputs.map(({ txId }) => toHex(txId)));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = 'it neither passed it on nor said why: its fee or form may not be to its liking';
    const timer = setTimeout(() => reject(this.unknown(late)), limitMs);
    this.answer = promise.finally(() => this.end(timer));
    this.taken = resolve;
    this.failed = reject;
    void this.observe(observer);
    // Nodes take one that was not announced, and at once; an announced one they ask for seconds later.
    link.send({ kind: 'tx', raw: tx.raw });
    // Messages are handled in order: with the answer to this one the node has decided.
    link.send({ kind: 'ping', nonce: this.nonce });
  }

  /** What the node says to the connection over which it was sent. */
  handle(message: Message): void {
    if (message.kind === 'inv' && this.isNamed(message.items)) this.taken();
    else if (message.kind === 'reject' && message.hash !== null && equalBytes(message.hash, this.tx.id))
      this.failed(this.refused(message.reason));
    else if (message.kind === 'getdata') this.asked(message.items);
    else if (message.kind === 'pong' && equalBytes(message.nonce, this.nonce)) void this.askForIt();
  }

  /** That connection ended. A node ends it over what breaks the chain's own rules, and for many other reasons. */
  cut(why: UnspentError): void {
    this.failed(this.unknown(why.code === 'INTERRUPTED' ? 'stopped before it answered' : `the connection ended: ${why.message}`, why));
  }

  private async observe({ link, messages }: OpenLink): Promise<void> {
    this.opened.push(link);
    try {
      for await (const message of messages) {
        if (message.kind === 'inv' && this.isNamed(message.items)) return this.taken();
        if (message.kind === 'ping') link.send({ kind: 'pong', nonce: message.nonce });
      }
    } catch (error) {
      this.failed(this.unknown('the connection that would have told was lost', error));
    }
  }

  /** Asks over a new connection. Whatever goes wrong with it, the observer is still there. */
  private async askForIt(): Promise<void> {
    if (this.isDone) return;
    try {
      const { link, messages } = await this.connect();
      this.opened.push(link);
      if (this.isDone) return this.end();
      link.send({ kind: 'getdata', items: [{ type: ITEM.witnessTx, hash: this.tx.id }] });
      for await (const message of messages) {
        // It was all that we asked for here. Its witnesses may be others than ours: by its id it is the same.
        if (message.kind === 'tx') return this.taken();
        if (message.kind === 'notfound' && this.isNamed(message.items)) break;
      }
      link.fail(new UnspentError('CLOSED', 'the node does not give it'));
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
    }
  }

  private asked(items: readonly Item[]): void {
    if (this.isNamed(items)) this.link.send({ kind: 'tx', raw: this.tx.raw });
    const missing = items.find(({ hash }) => this.parents.has(toHex(hash)));
    // The node keeps it for some minutes, and takes it if it learns of the other one by then.
    if (missing !== undefined) this.failed(this.unknown(`it does not know transaction ${formatId(missing.hash)}, which this one spends`));
  }

  private end(timer?: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.isDone = true;
    for (const link of this.opened.splice(0)) link.fail(new UnspentError('CLOSED', 'the answer is known'));
  }

  private isNamed(items: readonly Item[]): boolean {
    return items.some(({ type, hash }) => type !== ITEM.block && equalBytes(hash, this.tx.id));
  }

  private unknown(reason: string, cause?: unknown): UnspentError {
    const id = formatId(this.tx.id);
    return new UnspentError('SOURCE_UNREACHABLE', `the node may have taken transaction ${id}: ${reason}`, { id }, cause);
  }

  private refused(reason: string): UnspentError {
    return new UnspentError('TX_REFUSED', reason, { id: formatId(this.tx.id) });
  }
}
