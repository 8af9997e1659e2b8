/**
 * One client of the responder, from its greeting to its end: it is answered
 * what it asks for of the chain, and told of new blocks and transactions in the
 * way it prefers. What it breaks ends its connection and nothing else.
 */
import type { Socket } from 'node:net';
import { decodeTx, HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { violation } from '../../../sources/bitcoin/p2p/frame.ts';
import { Link, ownVersion } from '../../../sources/bitcoin/p2p/link.ts';
import { ITEM, type Item, type Message, SERVICE } from '../../../sources/bitcoin/p2p/messages.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { HANDSHAKE_STEP_MS, P2P_BLOCK_IDS_MAX, P2P_HEADERS_MAX, P2P_INVENTORY_MAX } from '../../../util/limits.ts';
import type { AnnouncedTxs } from './announced.ts';
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
  private readonly announced: AnnouncedTxs;
  private readonly link: Link;
  private wantsHeaders = false;
  private wantsTxs = false;
  /** The newest block that the client is known to know; null: none. */
  private shown: Uint8Array | null = null;
  /** The last block of a list that ended at its limit: whoever fetches it is told the tip, and asks for the next list. */
  private listEnd: Uint8Array | null = null;
  private readonly greeting: NodeJS.Timeout;

  constructor(socket: Socket, chain: ServedChain, announced: AnnouncedTxs) {
    this.chain = chain;
    this.announced = announced;
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
    else if (message.kind === 'getblocks') this.listBlocks(message.locator, message.stop);
    else if (message.kind === 'getdata') await this.sendData(message.items);
    else if (message.kind === 'mempool') this.sendInventory(this.chain.mempool());
    else if (message.kind === 'tx') this.take(message.raw);
    else if (message.kind === 'inv') this.askFor(message.items);
  }

  /** Height of the first of these hashes that is on the best branch; the first block is on every branch. */
  private forkHeight(locator: readonly Uint8Array[]): number {
    for (const hash of locator) {
      const height = this.chain.heightOf(hash);
      if (height !== null) return height;
    }
    return 0;
  }

  /**
   * Names the blocks after the fork, up to the one before `stop`, as Core does.
   * If there are none we answer with an empty list, because btcd hangs up on a
   * peer that does not answer in thirty seconds.
   */
  private listBlocks(locator: readonly Uint8Array[], stop: Uint8Array): void {
    const items: Item[] = [];
    for (let at = this.forkHeight(locator) + 1; items.length < P2P_BLOCK_IDS_MAX; at++) {
      const hash = this.chain.hashAt(at);
      if (hash === null || equalBytes(hash, stop)) break;
      items.push({ type: ITEM.block, hash });
    }
    this.listEnd = items.length === P2P_BLOCK_IDS_MAX ? items[P2P_BLOCK_IDS_MAX - 1].hash : null;
    this.link.send({ kind: 'inv', items });
  }

  /** Headers after the first hash that is on the best branch, or after the first block. */
  private sendHeaders(locator: readonly Uint8Array[], stop: Uint8Array): void {
    const from = this.forkHeight(locator);
    this.shown = this.chain.hashAt(from);
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
      if (this.listEnd !== null && equalBytes(item.hash, this.listEnd)) this.continueList();
      await this.link.drained();
    }
    if (missing.length > 0) this.link.send({ kind: 'notfound', items: missing });
  }

  /** The client has the last block of its list: it finds out by the tip, which it does not have, that there are more. */
  private continueList(): void {
    this.listEnd = null;
    this.nameTip();
  }

  private find({ type, hash }: Item): Message | null {
    const { chain } = this;
    const { mweb } = chain.network;
    if (type === ITEM.block || type === ITEM.witnessBlock || type === ITEM.mwebBlock) {
      const raw = chain.block(hash);
      return raw === null ? null : { kind: 'block', raw: type === ITEM.block ? strippedBlock(raw, mweb) : raw };
    }
    if (type !== ITEM.tx && type !== ITEM.witnessTx && type !== ITEM.mwebTx) return null;
    const raw = this.announced.find(hash);
    return raw === null ? null : { kind: 'tx', raw: type === ITEM.tx ? strippedTx(raw, mweb) : raw };
  }

  private sendInventory(ids: readonly Uint8Array[]): void {
    this.announced.add(ids);
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
    this.nameTip();
  }

  private nameTip(): void {
    const hash = this.chain.hashAt(this.chain.height);
    if (hash !== null) this.link.send({ kind: 'inv', items: [{ type: ITEM.block, hash }] });
  }
}
