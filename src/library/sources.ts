/** Sources for programs: by URL, without a store. */
import { openNetwork } from '../families/networks.ts';
import { openEmbedded, openNetworkSource as openSourceOf } from '../families/open-source.ts';
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
