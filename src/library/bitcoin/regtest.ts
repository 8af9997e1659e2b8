/** A regtest chain of one's own for programs, served on loopback. */
import { RegtestDevnet } from '../../chains/bitcoin/regtest/index.ts';
import { serveP2p } from '../../chains/bitcoin/responder/index.ts';
import { formatId, parseAddress } from '../../ledgers/bitcoin/index.ts';

/** How a regtest chain is made. */
export interface RegtestStartOptions {
  /** The same calls on the same seed and clock give the same bytes. Default: 1. */
  readonly seed?: number | undefined;
  /** Blocks to begin with. Default: 110, so that the first rewards can be spent. */
  readonly blocks?: number | undefined;
  /** Unix seconds; default: the machine's. */
  readonly clock?: (() => number) | undefined;
}

/** A regtest chain of one's own in this process, served over the P2P protocol on loopback. */
export interface Regtest {
  /** The source to follow. */
  readonly url: string;
  /** The network that a store of it is opened with. */
  readonly network: string;
  /** The height of its newest block. */
  readonly height: number;
  /** Makes blocks, with transactions of its own. Default: one. */
  mine(blocks?: number): void;
  /** The last blocks are void, and one more than that take their place. Throws USAGE. */
  fork(depth: number): void;
  /** Pays to an address in the next block; the id of the transaction. Throws USAGE. */
  fund(address: string, satoshi: bigint): string;
  /** Ends every connection and the chain. */
  close(): Promise<void>;
}

const FIRST_BLOCKS = 110;

/** Makes a regtest chain and serves it on a free port of loopback. */
export async function startRegtest(options: RegtestStartOptions = {}): Promise<Regtest> {
  const { seed = 1, blocks = FIRST_BLOCKS, clock } = options;
  const chain = new RegtestDevnet({ seed, ...(clock === undefined ? {} : { clock }) });
  chain.mine(blocks);
  const server = await serveP2p(chain, { port: 0 });
  return {
    url: `p2p://127.0.0.1:${server.port}`,
    network: chain.network.name,
    get height() {
      return chain.height;
    },
    mine: (count) => chain.mine(count),
    fork(depth) {
      chain.fork(depth);
    },
    fund: (address, satoshi) => formatId(chain.fund(parseAddress(chain.network, address), satoshi)),
    async close() {
      await server.close();
      await chain.close();
    },
  };
}
