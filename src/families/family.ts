/**
 * A family of chains, described: everything that differs between Cardano and
 * the Bitcoin family, or points to where it is. `cardano.ts` and `bitcoin.ts`
 * are the two descriptors; nothing else in the code asks for a family's name.
 * Whatever works on any chain asks the descriptor, or what it has made for a
 * network: the ledger (what bytes mean) and the dialect (how readers write it).
 */
import type { Reader } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import type { FamilyName } from '../proofs/index.ts';
import type { Commitment, CommitmentOptions } from '../query/commitment.ts';
import type { Dialect } from '../query/dialect.ts';
import type { MempoolView } from '../query/mempool.ts';
import type { NodeSet, NodeSetOptions } from '../sources/node-set.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { GenesisTexts, Source } from '../sources/source.ts';
import type { WalletFamily } from '../wallet/family-wallets.ts';

export type { NodeOutput, NodeSet, NodeSetOptions } from '../sources/node-set.ts';

/** What sets a network apart from the others of its family, in plain data: a store remembers it, and threads send it to each other. */
export interface NetworkParameters {
  /** The network's name. */
  readonly name: string;
  /** What its nodes know each other by. */
  readonly magic: number;
}

/** A network, opened: what it takes to fold its blocks and to write what they say. */
export interface Network<P extends NetworkParameters = NetworkParameters> {
  readonly name: string;
  readonly family: Family<P>;
  /** What the store remembers, so that a private network needs its genesis files only once. */
  readonly parameters: P;
  readonly ledger: Ledger;
  /** How its readers write what it says. */
  readonly dialect: Dialect;
  /** False: the chain cannot be followed from its first block. */
  readonly hasGenesis: boolean;
}

/** What is known of a network besides its name. */
export interface NetworkFacts<P extends NetworkParameters = NetworkParameters> {
  /** Null: no genesis files were given. */
  readonly genesis: GenesisTexts | null;
  /** The parameters that an existing store, or a snapshot, remembers. */
  readonly remembered?: P | undefined;
}

export interface SourceOptions {
  /** Told whenever the connection to a node changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
}

/** A kind of source: one folder below `sources/`, and how its URLs are opened. */
export interface SourceKind<P extends NetworkParameters = NetworkParameters> {
  /** Its URLs as messages show them; what stands before the colon is the scheme, which no other kind has. */
  readonly forms: readonly string[];
  /** Several may be given: they are nodes of one chain, and when one fails the next is tried. Default: one only. */
  readonly several?: true;
  /** The network whose chain this source makes itself. Absent: its chain is somebody else's. */
  readonly makes?: string;
  /** `path` is what stands behind the colon of the first URL. Reads nothing before it is followed. Throws USAGE. */
  open(urls: readonly string[], parameters: P, options: SourceOptions & { readonly path: string }): Source;
}

/** What a leaf of the trees stands for, for people. */
export interface LeafDescription {
  /** A raw address, or a script. */
  readonly owner: Uint8Array;
  /** With its unit. */
  readonly amount: string;
  /** How many kinds of asset it holds besides. */
  readonly assets: number;
}

export interface Family<P extends NetworkParameters = NetworkParameters> {
  /** As it stands in stores, snapshots and proof documents. */
  readonly name: FamilyName;
  /** In a sentence: "... is of ". */
  readonly title: string;
  /** The smallest unit of its coins, which amounts are counted in; metrics of amounts are named after it. */
  readonly unit: string;
  readonly networks: readonly P[];
  readonly sources: readonly SourceKind<P>[];
  /** Names of the wire shapes (`server/wire-shapes.ts`) that its stores answer in besides our own API. */
  readonly wireShapes: readonly string[];
  /** Its wallets, which are loaded when they are opened. */
  readonly wallets: WalletFamily<P>;

  /** Throws GENESIS_WRONG where the genesis files are not of that network. */
  open(known: P, facts: NetworkFacts<P>): Network<P>;
  /** The genesis files in a folder. Throws GENESIS_NEEDED, and GENESIS_WRONG where the family has none. */
  readGenesis(folder: string, network: string): GenesisTexts;
  /** For a store that starts in the middle of a chain whose genesis is not known: as if it had made no outputs. */
  withoutGenesis(network: Network<P>): Network<P>;
  /** What cannot be learnt from the name alone, of a private network; null: the name says it all. */
  ownParameters(network: Network<P>): P | null;
  /** Whether these can be the own parameters of a private network. They come from a file that anybody may have written. */
  canBeOwnParameters(given: Readonly<Record<string, unknown>>): boolean;
  /** Blocks below the tip that a new store keeps what it spent, where nobody decides. */
  windowBlocks(network: Network<P>): number;

  /** Reads the bytes that a leaf of the trees stands for (`OutputLeaf.content`). Throws BLOCK_INVALID. */
  describeLeaf(content: Uint8Array): LeafDescription;
  /** An owner, given as its raw address or script; `network` is a name that may be unknown. */
  ownerText(owner: Uint8Array, network: string): string;
  /**
   * A node's own unspent set, which a new store can begin with: a file that the node wrote, or the node itself. Throws
   * USAGE where this family has none of that kind.
   */
  nodeSet(from: string, parameters: P, options: NodeSetOptions): Promise<NodeSet>;
  /** Keeps what the followed node has in its mempool. Absent: no mempool is kept. */
  mempool?(network: Network<P>): MempoolView;
  /** What a node says of its unspent set, from a walk over ours; `tipHash` before the first block: zeros. Absent: its nodes say nothing of the kind. */
  commitment?(reader: Reader, tipHash: Uint8Array, options: CommitmentOptions): Commitment;
}
