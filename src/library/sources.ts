/**
 * Sources for programs: by URL, without a store, and a regtest chain of one's
 * own that is served on loopback.
 */
import { RegtestDevnet } from '../chains/bitcoin/regtest/index.ts';
import { serveP2p } from '../chains/bitcoin/responder/index.ts';
import { openNetwork } from '../families/networks.ts';
import { openEmbedded, openNetworkSource as openSourceOf } from '../families/open-source.ts';
import { formatId, parseAddress } from '../ledgers/bitcoin/index.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { GenesisTexts, Source } from '../sources/source.ts';
import { UnspentError } from '../util/errors.ts';

/** What a source has to know of the chain it serves. */
export interface SourceOpenOptions {
  /** The name of the network; `devnet:` makes its own chain and needs none. */
  readonly network?: string | undefined;
  /** The texts of the genesis files of a private network. */
  readonly genesis?: GenesisTexts | undefined;
  /** Told whenever the connection to a node changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
}

/**
 * A source by its URL (docs/operating.md lists them), or several nodes of one chain, of which the next is tried when
 * one fails. `store.follow` takes URLs itself; this is for a source that is wrapped, read without a store, or makes the
 * chain that a store is opened for. Throws SOURCE_UNKNOWN, and USAGE where the source cannot be of that network.
 */
export function openSource(url: string | readonly string[], options: SourceOpenOptions = {}): Source {
  const { network, genesis, onPeer } = options;
  const embedded = network === undefined ? openEmbedded(typeof url === 'string' ? [url] : url) : null;
  if (embedded !== null) return embedded.source;
  if (network === undefined) throw new UnspentError('NETWORK_NEEDED', `the source ${url} needs to know its network`);
  return openSourceOf(url, openNetwork(network, genesis ?? null), { onPeer });
}

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
