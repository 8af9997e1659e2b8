/**
 * The mempool of the node that is followed, as far as the protocol shows it:
 * what it announces from the time that we are at its tip, and everything at once
 * where it answers `mempool` (BIP35; most nodes do not). What leaves it unmined
 * is never announced.
 *
 * A transaction that we hand over counts as taken when the node passes it on
 * (`submission.ts`).
 */
import { type BitcoinNetwork, type BitcoinTx, decodeTx } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { P2P_INVENTORY_MAX, P2P_MEMPOOL_BYTES_MAX, P2P_SUBMIT_MS } from '../../../util/limits.ts';
import type { MempoolChange, MempoolFeed } from '../../source.ts';
import { violation } from './frame.ts';
import type { Link } from './link.ts';
import { ITEM, type Item, type Message } from './messages.ts';
import { type Connect, Submission } from './submission.ts';

export class TxFeed implements MempoolFeed {
  private readonly network: BitcoinNetwork;
  private readonly timeScale: number;
  private readonly listeners = new Set<(change: MempoolChange) => void>();
  /** By hex of the id, oldest first. */
  private readonly txs = new Map<string, Uint8Array>();
  private bytes = 0;
  private readonly asked = new Set<string>();
  private readonly submissions = new Map<string, Promise<void>>();
  private readonly sent = new Map<string, Submission>();
  private link: Link | null = null;
  private connect: Connect | null = null;
  private isOpen = false;

  constructor(network: BitcoinNetwork, timeScale: number) {
    this.network = network;
    this.timeScale = timeScale;
  }

  watch(listener: (change: MempoolChange) => void): () => void {
    this.listeners.add(listener);
    if (this.txs.size > 0) listener({ kind: 'add', txs: [...this.txs.values()] });
    return () => this.listeners.delete(listener);
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    const tx = this.decoded(raw);
    const id = toHex(tx.id);
    if (this.txs.has(id)) return tx.id;
    let submission = this.submissions.get(id);
    if (submission === undefined) {
      submission = this.send(tx, id);
      this.submissions.set(id, submission);
    }
    await submission;
    return tx.id;
  }

  private async send(tx: BitcoinTx, id: string): Promise<void> {
    const { link, connect } = this;
    const deadline = performance.now() + P2P_SUBMIT_MS * this.timeScale;
    try {
      if (link === null || connect === null)
        throw new UnspentError('SOURCE_UNREACHABLE', 'no node is connected that could take the transaction');
      const observer = await connect();
      const submission = new Submission(tx, link, observer, connect, deadline - performance.now());
      this.sent.set(id, submission);
      await submission.answer;
    } finally {
      this.sent.delete(id);
      this.submissions.delete(id);
    }
    // The node does not announce to us what it has from us.
    this.keep(id, tx.raw);
  }

  /** A new connection: what was known is void. `connect` opens another one to the same node. */
  connected(link: Link, connect: Connect): void {
    this.link = link;
    this.connect = connect;
    this.txs.clear();
    this.asked.clear();
    this.bytes = 0;
    this.tell({ kind: 'reset' });
  }

  /** We are at the tip: from now on transactions are of use. `offersAll`: the node answers `mempool`. */
  open(offersAll: boolean): void {
    if (this.isOpen) return;
    this.isOpen = true;
    if (offersAll) this.link?.send({ kind: 'mempool' });
  }

  disconnected(why: UnspentError): void {
    this.link = null;
    this.connect = null;
    this.isOpen = false;
    for (const submission of [...this.sent.values()]) submission.cut(why);
  }

  /** These are in a block now. */
  confirmed(txs: readonly BitcoinTx[]): void {
    if (this.txs.size === 0) return;
    for (const { id } of txs) this.drop(toHex(id));
  }

  /** Throws PROTOCOL. */
  handle(message: Message): void {
    if (message.kind === 'inv') this.announced(message.items);
    else if (message.kind === 'tx') this.arrived(message.raw);
    else if (message.kind === 'notfound') for (const { hash } of message.items) this.asked.delete(toHex(hash));
    for (const submission of [...this.sent.values()]) submission.handle(message);
  }

  private announced(items: readonly Item[]): void {
    if (!this.isOpen || this.link === null) return;
    const wanted: Item[] = [];
    for (const { type, hash } of items) {
      const id = toHex(hash);
      if (type !== ITEM.tx || this.txs.has(id) || this.asked.has(id) || this.asked.size >= P2P_INVENTORY_MAX) continue;
      this.asked.add(id);
      wanted.push({ type: ITEM.witnessTx, hash });
    }
    if (wanted.length > 0) this.link.send({ kind: 'getdata', items: wanted });
  }

  private arrived(raw: Uint8Array): void {
    let tx: BitcoinTx;
    try {
      tx = decodeTx(raw, this.network.mweb);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw violation(`a transaction does not decode: ${error.message}`, {}, error);
    }
    const id = toHex(tx.id);
    if (this.asked.delete(id)) this.keep(id, raw);
  }

  private keep(id: string, raw: Uint8Array): void {
    if (this.txs.has(id)) return;
    this.txs.set(id, raw);
    this.bytes += raw.length;
    for (const oldest of this.txs.keys()) {
      if (this.bytes <= P2P_MEMPOOL_BYTES_MAX) break;
      this.drop(oldest);
    }
    this.tell({ kind: 'add', txs: [raw] });
  }

  private drop(id: string): void {
    this.bytes -= this.txs.get(id)?.length ?? 0;
    this.txs.delete(id);
  }

  private decoded(raw: Uint8Array): BitcoinTx {
    try {
      return decodeTx(raw, this.network.mweb);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw new UnspentError('TX_REFUSED', `it is not a transaction: ${error.message}`, error.meta, error);
    }
  }

  private tell(change: MempoolChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
