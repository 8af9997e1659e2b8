/**
 * The reader's position among the known headers, and its way from there:
 * along the branch with the most work, which is ours until another has more.
 *
 * Only our own headers outlive a connection. What a node said of the chain is
 * dropped with it, so that a branch whose blocks no node can give is not
 * waited for on the next connection.
 */
import { type BitcoinNetwork, formatId, parseId } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { P2P_HEADERS_AHEAD_MAX, P2P_REORG_BLOCKS_MAX } from '../../../util/limits.ts';
import type { OwnChain } from '../../source.ts';
import type { HeaderTree } from '../header-tree.ts';
import { violation } from './frame.ts';
import { type HeaderBranches, headersOfChain, headersOfNetwork } from './header-branches.ts';

const NONE = -1;
const PREV_AT = 4;
const HASH_BYTES = 32;

export class HeaderPath {
  /** The block handed over last; null: none, not even the first. */
  at: Point | null;
  private readonly network: BitcoinNetwork;
  private readonly genesisHash: Uint8Array;
  private readonly chain: OwnChain | undefined;
  private headers: HeaderBranches;
  private atNumber: number;

  constructor(network: BitcoinNetwork, from: readonly Point[], chain?: OwnChain) {
    this.network = network;
    this.genesisHash = parseId(network.genesisHash);
    this.chain = chain;
    this.at = from[0] ?? null;
    if (this.at !== null && chain === undefined)
      throw new UnspentError('USAGE', 'p2p:// goes on only from a chain whose headers it can read');
    this.headers = chain === undefined || this.at === null ? headersOfNetwork(network) : headersOfChain(network, chain, this.lowestFork());
    this.atNumber = this.ownNumber();
  }

  get tree(): HeaderTree {
    return this.headers.tree;
  }

  get bestHeight(): number {
    return this.tree.height(this.tree.best);
  }

  /** Whether more headers are wanted above the best; those that have come are gone through first. */
  get hasRoom(): boolean {
    return this.bestHeight - (this.at?.height ?? NONE) < P2P_HEADERS_AHEAD_MAX;
  }

  /** Hashes for a node to find common ground by: back from `since`, and then the first block. */
  locator(since?: number): Uint8Array[] {
    const hashes = this.headers.locator(since);
    return this.tree.lowest === 0 ? hashes : [...hashes, this.genesisHash];
  }

  /** Whether headers that begin with this one can be taken: its parent is known. */
  links(first: Uint8Array): boolean {
    return this.headers.links(first);
  }

  /** Takes headers that link; the number of the last. Throws PROTOCOL, and SOURCE_FORK when they have more work than ours from below the horizon on. */
  take(headers: readonly Uint8Array[], peer: string): number {
    const last = this.headers.take(headers);
    const fork = this.base();
    if (fork !== NONE && !this.isAt(fork) && this.tree.height(fork) < this.lowestFork()) throw this.tooDeep(peer, this.tree.height(fork));
    return last;
  }

  /** Forgets all headers that are not ours, and those of ours that are too old to matter. */
  forget(): void {
    if (this.at === null) this.headers = headersOfNetwork(this.network);
    else this.keep(this.atNumber);
  }

  /** Forgets headers that are too old to matter, when they have become many. */
  trim(): void {
    if (this.at !== null && this.at.height - this.tree.lowest > 2 * P2P_REORG_BLOCKS_MAX) this.keep(this.tree.best);
  }

  /** The best branch alone, for comparing it with what another node has, and the lowest height at which we could turn to that. */
  best(): { readonly headers: HeaderBranches; readonly lowestFork: number } {
    const lowestFork = this.lowestFork();
    return { headers: this.headers.branch(this.tree.best, lowestFork), lowestFork };
  }

  /** The header from which blocks are wanted: where we are or, when another branch has more work, where it left ours. -1: before the first block. */
  base(): number {
    return this.at === null ? NONE : this.tree.fork(this.atNumber, this.tree.best);
  }

  isAt(number: number): boolean {
    return number === this.atNumber;
  }

  /** The block after that one on the best branch; -1: it is the newest. */
  after(base: number): number {
    return this.tree.ancestor(this.tree.best, base === NONE ? 0 : this.tree.height(base) + 1);
  }

  /** We are at that header now. */
  move(number: number): Point {
    const height = this.tree.height(number);
    this.atNumber = number;
    this.at = { height, slot: height, hash: this.tree.hash(number) };
    return this.at;
  }

  /** True for the header of the second block of this network. */
  beginsChain(header: Uint8Array): boolean {
    return equalBytes(prevHash(header), this.genesisHash);
  }

  /** Why no header of ours stands before the headers of a node, which begin with this one. `isOfNetwork`: others of its did. */
  strange(first: Uint8Array, peer: string, startHeight: number, isOfNetwork: boolean): UnspentError {
    const after = formatId(prevHash(first));
    if (!this.beginsChain(first)) {
      if (isOfNetwork) return violation(`headers after ${after}, which it never told us of`, { peer });
      const message = `${peer} is of another network than '${this.network.name}': its headers begin after ${after}`;
      return new UnspentError('NETWORK_WRONG', message, { peer });
    }
    if (startHeight < this.tree.lowest) {
      const message = `${peer} is at height ${startHeight}, below all of our points: it is still syncing`;
      return new UnspentError('SOURCE_UNREACHABLE', message, { peer });
    }
    return this.tooDeep(peer, null);
  }

  private tooDeep(peer: string, height: number | null): UnspentError {
    const where = height === null ? `has none of our blocks from height ${this.tree.lowest} on` : `leaves our chain at height ${height}`;
    const message =
      `${peer} ${where}: its chain forks below our horizon. ` +
      'Follow another node, or sync a new store from this one with another --data DIR';
    return new UnspentError('SOURCE_FORK', message, { peer });
  }

  /** The lowest height at which we may turn: what the reader can undo. */
  private lowestFork(): number {
    return Math.max(this.chain?.horizonHeight ?? 0, (this.at?.height ?? 0) - P2P_REORG_BLOCKS_MAX, 0);
  }

  private keep(end: number): void {
    this.headers = this.headers.branch(end, this.lowestFork());
    this.atNumber = this.ownNumber();
  }

  private ownNumber(): number {
    if (this.at === null) return NONE;
    const number = this.tree.find(this.at.hash);
    assert(number !== NONE, 'the block we are at is among our headers');
    return number;
  }
}

function prevHash(header: Uint8Array): Uint8Array {
  return header.subarray(PREV_AT, PREV_AT + HASH_BYTES);
}
