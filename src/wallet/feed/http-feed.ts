/**
 * The events of a server in the form that wallets take them in: its event stream
 * says which blocks come and go, and the blocks are fetched one by one. A stream
 * that breaks is opened again where it was left, after pauses that grow; a server
 * that cannot tell any more what happened since ends it with EXPIRED.
 *
 * Positions are those of a store in this process (store-feed.ts): a database may
 * be fed here and there in turns.
 */
import { behindBlock } from '../../events/position.ts';
import { UnspentError } from '../../util/errors.ts';
import { BLOCK_BYTES_MAX } from '../../util/limits.ts';
import type { WalletBlock, WalletTx } from '../records.ts';
import {
  askUntilAnswered,
  isTransient,
  parseEventData,
  pauseAfter,
  type ReconnectOptions,
  type ServerAddress,
  ServerClient,
} from './server-client.ts';
import type { ServerSentEvent } from './server-sent-events.ts';
import type { FeedEvent, FeedSource, FeedStart } from './wallet-feed.ts';

/** How the blocks of a family are asked for and read. */
export interface BlockBodies {
  parseId(text: string): Uint8Array;
  path(hash: Uint8Array): string;
  /** The transactions of a block, in its order. Throws BLOCK_INVALID, PROTOCOL when it is another block. */
  read(raw: Uint8Array, block: WalletBlock): readonly WalletTx[];
}

export interface HttpFeedOptions extends ServerAddress, ReconnectOptions {
  readonly bodies: BlockBodies;
}

const EVENTS = '/api/v1/events?types=block,rollback';

/** What the server's documents say of a block. */
interface BlockDocument {
  readonly hash: string;
  readonly height: number;
  readonly block_time: number;
}

interface PointDocument {
  readonly hash: string;
  readonly height: number;
}

export class HttpFeed implements FeedSource {
  readonly #server: ServerClient;
  readonly #options: HttpFeedOptions;

  /** Asks nothing yet. Throws USAGE. */
  constructor(options: HttpFeedOptions) {
    this.#server = new ServerClient(options);
    this.#options = options;
  }

  newest(signal: AbortSignal): Promise<FeedStart> {
    return askUntilAnswered(() => this.#begin(signal), this.#options, signal);
  }

  async *events(after: string, signal: AbortSignal): AsyncGenerator<FeedEvent, void, undefined> {
    let position = after;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        for await (const told of this.#server.events(EVENTS, position, signal)) {
          failures = 0;
          const event = await this.#eventOf(told, signal);
          if (event === null) continue;
          position = event.position;
          yield event;
        }
        const ended = new UnspentError('SOURCE_UNREACHABLE', 'the server has ended the stream');
        await pauseAfter(ended, failures, this.#options, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isTransient(error)) throw error;
        await pauseAfter(error, failures, this.#options, signal);
      }
    }
  }

  async #begin(signal: AbortSignal): Promise<FeedStart> {
    for await (const { name, id, data } of this.#server.events(EVENTS, null, signal)) {
      if (name !== 'begin') continue;
      const { point } = parseEventData<{ readonly point: PointDocument | null }>(data);
      const document = point && (await this.#server.json<BlockDocument>(`/api/v1/blocks/${point.hash}`, signal));
      return { block: document && this.#blockOf(document), position: id };
    }
    throw new UnspentError('SOURCE_UNREACHABLE', 'the server has ended the stream before it began');
  }

  /** Null: nothing that concerns wallets. */
  async #eventOf({ name, id, data }: ServerSentEvent, signal: AbortSignal): Promise<FeedEvent | null> {
    if (name === 'block') {
      const block = this.#blockOf(parseEventData(data));
      const { bodies } = this.#options;
      // A block that is gone already is not found: the stream is opened again behind the one before, and leads past it.
      const raw = await this.#server.bytes(bodies.path(block.hash), BLOCK_BYTES_MAX, signal);
      return { kind: 'connected', block, txs: bodies.read(raw, block), position: behindBlock(id) };
    }
    if (name === 'undo') return { kind: 'disconnected', block: this.#blockOf(parseEventData(data)), position: id };
    if (name === 'rollback') {
      const { to, resumed } = parseEventData<{ readonly to: PointDocument | null; readonly resumed: boolean }>(data);
      // The blocks of any other were told one by one.
      return resumed ? { kind: 'rollback', to: to && this.#pointOf(to), position: id } : null;
    }
    if (name === 'expired') throw new UnspentError('EXPIRED', parseEventData<{ readonly detail: string }>(data).detail);
    if (name === 'failure') throw new UnspentError('SOURCE_UNREACHABLE', parseEventData<{ readonly detail: string }>(data).detail);
    return null;
  }

  #blockOf(document: BlockDocument): WalletBlock {
    return { ...this.#pointOf(document), timestamp: document.block_time };
  }

  #pointOf({ hash, height }: PointDocument): Pick<WalletBlock, 'height' | 'hash'> {
    if (typeof hash !== 'string' || !Number.isSafeInteger(height))
      throw new UnspentError('PROTOCOL', 'the server tells of a block without hash or height');
    return { height, hash: this.#options.bodies.parseId(hash) };
  }
}

/** Ends with the block that was the newest when it began, or with a later one of another branch. */
export function upToNow(source: FeedSource): FeedSource {
  return {
    newest: (signal) => source.newest(signal),
    async *events(after, signal): AsyncGenerator<FeedEvent, void, undefined> {
      const { block, position } = await source.newest(signal);
      if (block === null || position === after) return;
      for await (const event of source.events(after, signal)) {
        yield event;
        if (event.position === position || (event.kind === 'connected' && event.block.height >= block.height)) return;
      }
    },
  };
}
