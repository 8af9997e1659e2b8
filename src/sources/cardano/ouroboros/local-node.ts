/**
 * A local node that a program asks and hands transactions to, over its socket
 * and without following it. The connection is made when it is first needed, and
 * again when it was lost.
 */
import { UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS } from '../../../util/limits.ts';
import { dial } from '../../dial.ts';
import { parseAddress } from './address.ts';
import { Mux } from './mux.ts';
import { N2cClient } from './n2c-client.ts';

export interface LocalNodeOptions {
  readonly magic: number;
  readonly byronEpochSlots: number;
}

export class LocalNode {
  private readonly url: string;
  private readonly options: LocalNodeOptions;
  private readonly stop = new AbortController();
  private connecting: Promise<N2cClient> | null = null;

  /** `n2c:PATH`. Throws USAGE. */
  constructor(url: string, options: LocalNodeOptions) {
    if (parseAddress(url).wire !== 'n2c') throw new UnspentError('USAGE', `questions go to a local socket, n2c:PATH, not to '${url}'`);
    this.url = url;
    this.options = options;
  }

  /** Throws SOURCE_UNREACHABLE, NETWORK_WRONG, PROTOCOL, CLOSED. */
  async client(): Promise<N2cClient> {
    if (this.stop.signal.aborted) throw new UnspentError('CLOSED', `the connection to ${this.url} was closed`);
    const known = this.connecting;
    if (known !== null && (await known.then(isAlive, () => false))) return known;
    // Whoever came meanwhile has begun anew already.
    if (this.connecting === known) this.connecting = this.connect();
    return this.connecting!;
  }

  private async connect(): Promise<N2cClient> {
    const mux = new Mux(await dial(parseAddress(this.url), CONNECT_MS, this.stop.signal), { peer: this.url });
    try {
      return await N2cClient.over(mux, this.options);
    } catch (error) {
      await mux.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.stop.abort();
    const client = await this.connecting?.catch(() => null);
    await client?.close();
  }
}

function isAlive({ mux }: N2cClient): boolean {
  return mux.failure === null;
}
