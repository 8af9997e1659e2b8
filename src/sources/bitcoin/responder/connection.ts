/**
 * One client of the responder, from its greeting to its end: it is answered
 * what it asks for of the chain, and told of new blocks and transactions in the
 * way it prefers. What it breaks ends its connection and nothing else.
 */
import type { Socket } from 'node:net';
import { decodeTx, HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { HANDSHAKE_STEP_MS, P2P_HEADERS_MAX, P2P_INVENTORY_MAX } from '../../../util/limits.ts';
import { violation } from '../p2p/frame.ts';
import { Link, ownVersion } from '../p2p/link.ts';
import { ITEM, type Item, type Message, SERVICE } from '../p2p/messages.ts';
import type { ChainNews, ServedChain } from './chain.ts';
import { strippedBlock, strippedTx } from './strip.ts';

/** We answer `mempool` and keep witnesses. */
const SERVICES = SERVICE.network | SERVICE.bloom | SERVICE.witness;
/** New headers sent unasked at most; whoever is further behind asks. */
const ANNOUNCED_MAX = 8;
/** `reject`: it is against the rules. */
const REJECT_INVALID = 0x10;

export class Connection {
  private readonly chain: ServedChain;
  private readonly link: Link;
  private wantsHeaders = false;
  private wantsTxs = false;
  /** The newest block that the client is known to know; null: none. */
  private shown: Uint8Array | null = null;
  private readonly greeting: NodeJS.Timeout;

  constructor(socket: Socket, chain: ServedChain) {
    this.chain = chain;
    this.link = new Link(socket, chain.network.magic, `${socket.remoteAddress}:${socket.remotePort}`);
    this.greeting = setTimeout(() => this.link.fail(violation('no greeting')), HANDSHAKE_STEP_MS);
  }

  /** Serves until the end and tells how it came to it. Never rejects for what a client does. */
  async serve(): Promise<UnspentError> {
    const messages = this.link.messages();
    let stop = (): void => {};
    try {
      await this.greet(messages);
      stop = this.chain.watch((news) => this.announce(news));
      for await (const message of messages) {
        await this.answer(message);
        await this.link.drained();
      }
      throw violation('the messages ended');
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      return error;
    } finally {
      stop();
      this.cut();
    }
  }

  cut(): void {
    clearTimeout(this.greeting);
    this.link.fail(new UnspentError('CLOSED', `the connection to ${this.link.peer} was cut by us`));
  }

  private async greet(messages: AsyncIterator<Message>): Promise<void> {
    for (let greeted = false; ; ) {
      const { value: message } = (await messages.next()) as IteratorYieldResult<Message>;
      if (message.kind === 'version' && !greeted) {
        greeted = true;
        this.wantsTxs = message.relay;
        this.link.send(ownVersion(SERVICES, this.chain.height));
        this.link.send({ kind: 'verack' });
      } else if (!greeted || message.kind === 'version') throw violation(`'${message.kind}' in the handshake`);
      else if (message.kind === 'verack') break;
    }
    clearTimeout(this.greeting);
  }

  private async answer(message: Message): Promise<void> {
    if (message.kind === 'ping') this.link.send({ kind: 'pong', nonce: message.nonce });
    else if (message.kind === 'sendheaders') this.wantsHeaders = true;
    else if (message.kind === 'getheaders') this.sendHeaders(message.locator, message.stop);
    else if (message.kind === 'getdata') await this.sendData(message.items);
    else if (message.kind === 'mempool') this.sendInventory(this.chain.mempool());
    else if (message.kind === 'tx') this.take(message.raw);
    else if (message.kind === 'inv') this.askFor(message.items);
  }

  /** Headers after the first hash that is on the best branch, or after the first block. */
  private sendHeaders(locator: readonly Uint8Array[], stop: Uint8Array): void {
    const { chain } = this;
    const known = locator.find((hash) => chain.heightOf(hash) !== null);
    const from = known === undefined ? 0 : (chain.heightOf(known) ?? 0);
    this.shown = chain.hashAt(from);
    this.link.send({ kind: 'headers', headers: this.headersAfter(from, P2P_HEADERS_MAX, stop) });
  }

  private headersAfter(height: number, most: number, stop?: Uint8Array): Uint8Array[] {
    const headers: Uint8Array[] = [];
    for (let at = height + 1; headers.length < most; at++) {
      const hash = this.chain.hashAt(at);
      const block = hash === null ? null : this.chain.block(hash);
      if (hash === null || block === null) break;
      headers.push(block.subarray(0, HEADER_BYTES));
      this.shown = hash;
      if (stop !== undefined && equalBytes(hash, stop)) break;
    }
    return headers;
  }

  private async sendData(items: readonly Item[]): Promise<void> {
    const missing: Item[] = [];
    for (const item of items) {
      const message = this.find(item);
      if (message === null) missing.push(item);
      else this.link.send(message);
      await this.link.drained();
    }
    if (missing.length > 0) this.link.send({ kind: 'notfound', items: missing });
  }

  private find({ type, hash }: Item): Message | null {
    const { chain } = this;
    const { mweb } = chain.network;
    if (type === ITEM.block || type === ITEM.witnessBlock || type === ITEM.mwebBlock) {
      const raw = chain.block(hash);
      return raw === null ? null : { kind: 'block', raw: type === ITEM.block ? strippedBlock(raw, mweb) : raw };
    }
    if (type !== ITEM.tx && type !== ITEM.witnessTx && type !== ITEM.mwebTx) return null;
    const raw = chain.tx(hash);
    return raw === null ? null : { kind: 'tx', raw: type === ITEM.tx ? strippedTx(raw, mweb) : raw };
  }

  private sendInventory(ids: readonly Uint8Array[]): void {
    for (let i = 0; i < ids.length; i += P2P_INVENTORY_MAX) {
      this.link.send({ kind: 'inv', items: ids.slice(i, i + P2P_INVENTORY_MAX).map((hash) => ({ type: ITEM.tx, hash })) });
    }
  }

  private take(raw: Uint8Array): void {
    const id = this.idOf(raw);
    try {
      this.chain.submit(raw);
      // Whoever sent it learns by this that it was taken, also when it was here before.
      this.sendInventory([id]);
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      this.link.send({ kind: 'reject', message: 'tx', code: REJECT_INVALID, reason: error.message, hash: id });
    }
  }

  private idOf(raw: Uint8Array): Uint8Array {
    try {
      return decodeTx(raw, this.chain.network.mweb).id;
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw violation(`a transaction does not decode: ${error.message}`, {}, error);
    }
  }

  private askFor(items: readonly Item[]): void {
    const wanted = items.filter(({ type, hash }) => type === ITEM.tx && this.chain.tx(hash) === null);
    if (wanted.length > 0) this.link.send({ kind: 'getdata', items: wanted.map(({ hash }) => ({ type: ITEM.witnessTx, hash })) });
  }

  private announce(news: ChainNews): void {
    if (news.kind === 'tip') this.announceTip();
    else if (this.wantsTxs) this.sendInventory([news.id]);
  }

  /** By headers when the client has their parent, by name when it must find out where they belong. */
  private announceTip(): void {
    const { chain } = this;
    const from = this.shown === null ? null : chain.heightOf(this.shown);
    if (this.wantsHeaders && from !== null && chain.height - from <= ANNOUNCED_MAX) {
      const headers = this.headersAfter(from, ANNOUNCED_MAX);
      if (headers.length > 0) this.link.send({ kind: 'headers', headers });
      return;
    }
    const hash = chain.hashAt(chain.height);
    if (hash !== null) this.link.send({ kind: 'inv', items: [{ type: ITEM.block, hash }] });
  }
}
