/**
 * The mempool of the node that a server follows, over HTTP: its changes in the
 * form that `WalletMempool` takes them in. A stream that breaks is opened again,
 * and the server tells everything anew; what it does not tell any more is told
 * here to be gone, so nothing is lost in between.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { isTransient, parseEventData, pauseAfter, type ReconnectOptions, type ServerAddress, ServerClient } from './server-client.ts';
import type { ServerSentEvent } from './server-sent-events.ts';

export interface HttpMempoolOptions extends ServerAddress, ReconnectOptions {
  /** The id of a transaction as nodes relay it. */
  idOf(raw: Uint8Array): Uint8Array;
  parseId(text: string): Uint8Array;
}

const EVENTS = '/api/v1/mempool/events';

type Take = (change: MempoolChange) => Promise<void>;

export class HttpMempool {
  readonly #server: ServerClient;
  readonly #options: HttpMempoolOptions;
  /** Ids in hex of what the mempool has, as far as it was told. */
  readonly #present = new Set<string>();

  /** Asks nothing yet. Throws USAGE. */
  constructor(options: HttpMempoolOptions) {
    this.#server = new ServerClient(options);
    this.#options = options;
  }

  /** Until the signal comes. Throws what `take` throws, and what asking the server again does not mend. */
  async follow(take: Take, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const told = new Set<string>();
        for await (const event of this.#server.events(EVENTS, null, signal)) {
          failures = 0;
          await this.#hear(event, told, take);
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

  /** `told`: what came since the stream began. */
  async #hear({ name, data }: ServerSentEvent, told: Set<string>, take: Take): Promise<void> {
    if (name === 'add') {
      const { transactions } = parseEventData<{ readonly transactions: readonly string[] }>(data);
      const txs = transactions.map((hex) => fromHex(hex));
      for (const raw of txs) {
        const id = toHex(this.#options.idOf(raw));
        told.add(id);
        this.#present.add(id);
      }
      await take({ kind: 'add', txs });
    } else if (name === 'remove') {
      const { txids } = parseEventData<{ readonly txids: readonly string[] }>(data);
      await this.#lose(
        txids.map((text) => this.#options.parseId(text)),
        take,
      );
    } else if (name === 'complete') {
      await this.#lose(
        [...this.#present].filter((id) => !told.has(id)).map((id) => fromHex(id)),
        take,
        true,
      );
    } else if (name === 'reset') {
      this.#present.clear();
      await take({ kind: 'reset' });
    }
  }

  async #lose(ids: readonly Uint8Array[], take: Take, isComplete = false): Promise<void> {
    for (const id of ids) this.#present.delete(toHex(id));
    if (ids.length > 0 || isComplete) await take({ kind: 'remove', ids });
  }
}
