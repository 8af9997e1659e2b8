/**
 * Where the reader is among the headers known, and where it goes from there. It
 * outlives connections: what one node said of the chain need not be asked again
 * of the next.
 *
 * Headers below the reader are not needed. The tree begins at the newest point
 * of the reader's own that the node has; when the node later turns to a branch
 * that leaves our chain below it, the tree begins anew, further down.
 */
import { type BitcoinNetwork, formatId, headerHash, parseId } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import type { OwnChain } from '../../source.ts';
import { HeaderTree } from '../header-tree.ts';
import { violation } from './frame.ts';
import { type WorkCheck, workCheck } from './work.ts';

const NONE = -1;
const PREV_AT = 4;
const HASH_BYTES = 32;
/** Hashes of a locator: the newest ones by one, then by steps that double; a hundred and one are allowed. */
const LOCATOR_DENSE = 10;
const LOCATOR_MAX = 90;

export class Route {
  /** The block handed over last; null: none, not even the first. */
  at: Point | null;
  /** Null until a node has shown where its chain meets ours. */
  tree: HeaderTree | null = null;
  private readonly network: string;
  private readonly genesisHash: Uint8Array;
  private atNumber = NONE;
  /** A header of the tree that is known to be ours, at or above the root. */
  private own = 0;
  private readonly from: readonly Point[];
  private readonly chain: OwnChain | undefined;
  private readonly hasWork: WorkCheck;

  constructor(network: BitcoinNetwork, from: readonly Point[], chain?: OwnChain) {
    this.network = network.name;
    this.genesisHash = parseId(network.genesisHash);
    this.hasWork = workCheck(network);
    this.from = from;
    this.chain = chain;
    this.at = from[0] ?? null;
    if (this.at === null) this.tree = new HeaderTree({ hash: this.genesisHash, height: 0 });
  }

  get bestHeight(): number | null {
    return this.tree === null ? null : this.tree.height(this.tree.best);
  }

  /** The lowest point of ours: below it nothing can be undone. */
  private get oldest(): Point | null {
    return this.points().at(-1) ?? null;
  }

  /** Hashes for a node to find common ground by: back from `since`, then our own points below the tree, then the first block. */
  locator(since: number = this.tree?.best ?? NONE): Uint8Array[] {
    const hashes: Uint8Array[] = [];
    const { tree } = this;
    let lowest = Number.POSITIVE_INFINITY;
    if (tree !== null) {
      for (let height = tree.height(since), step = 1; ; height -= step) {
        const number = tree.ancestor(since, Math.max(height, tree.height(0)));
        hashes.push(tree.hash(number));
        if (number === 0) break;
        if (hashes.length >= LOCATOR_DENSE) step *= 2;
      }
      lowest = tree.height(0);
    }
    for (const { hash, height } of this.points()) if (height < lowest && hashes.length < LOCATOR_MAX) hashes.push(hash);
    if (!hashes.some((hash) => equalBytes(hash, this.genesisHash))) hashes.push(this.genesisHash);
    return hashes;
  }

  /** Whether headers that begin with this one can be taken: its parent is known, or is a point of ours. */
  links(first: Uint8Array): boolean {
    return (this.tree !== null && this.tree.find(first, PREV_AT) !== NONE) || this.ownPoint(prevHash(first)) !== null;
  }

  /** Takes headers that link; the number of the last. Throws PROTOCOL when one does not follow the one before it, or lacks work. */
  take(headers: readonly Uint8Array[]): number {
    const hashes = headers.map((header) => headerHash(header));
    headers.forEach((header, i) => {
      if (i > 0 && !equalBytes(prevHash(header), hashes[i - 1]))
        throw violation(`header ${formatId(hashes[i])} does not follow the one before it`);
      if (!this.hasWork(header, hashes[i])) throw violation(`header ${formatId(hashes[i])} has not the work that it claims`);
    });
    const tree = this.rooted(headers[0]);
    let last = NONE;
    headers.forEach((header, i) => {
      last = tree.add(header, hashes[i]);
    });
    if (this.atNumber === NONE && this.at !== null) this.atNumber = tree.find(this.at.hash);
    return last;
  }

  /** The node has nothing that we have not: where we are is all there is to know. */
  settle(): void {
    if (this.tree !== null || this.at === null) return;
    this.tree = new HeaderTree(this.at);
    this.atNumber = 0;
  }

  /** Headers that no node stands for any more are forgotten; the next one says anew what it has. */
  forget(): void {
    if (this.at === null || this.chain === undefined) return;
    this.tree = null;
    this.atNumber = NONE;
  }

  /**
   * The header from which blocks are wanted: where we are or, when the best
   * branch has left us behind, where it did. -1: before the first block; null:
   * not to be said yet. `known`: all headers of the node are here.
   */
  base(known: boolean): number | null {
    const { tree, at } = this;
    if (at === null) return NONE;
    if (tree === null) return null;
    if (this.atNumber !== NONE) return tree.fork(this.atNumber, tree.best);
    return known ? this.lastOwn(tree) : null;
  }

  isAt(number: number): boolean {
    return this.at === null ? number === NONE : number === this.atNumber;
  }

  /** The block after that one on the best branch; -1: it is the newest. */
  after(base: number, steps = 1): number {
    const { tree } = this;
    if (tree === null) return NONE;
    return tree.ancestor(tree.best, (base === NONE ? NONE : tree.height(base)) + steps);
  }

  heightOf(number: number): number {
    return this.tree?.height(number) ?? 0;
  }

  /** We are at that header now. */
  move(number: number): Point {
    const { tree } = this;
    assert(tree !== null, 'there are headers to move along');
    const height = tree.height(number);
    this.atNumber = number;
    this.at = { height, slot: height, hash: tree.hash(number) };
    return this.at;
  }

  /** True for the header of the second block of this network. */
  beginsChain(header: Uint8Array): boolean {
    return equalBytes(prevHash(header), this.genesisHash);
  }

  /** Why none of our points stands before the headers of a node, which begin with this one. `isOfNetwork`: others of its did. */
  strange(first: Uint8Array, peer: string, startHeight: number, isOfNetwork: boolean): UnspentError {
    const { oldest } = this;
    const after = formatId(prevHash(first));
    if (!this.beginsChain(first)) {
      if (isOfNetwork) return violation(`headers after ${after}, which it never told us of`, { peer });
      const message = `${peer} is of another network than '${this.network}': its headers begin after ${after}`;
      return new UnspentError('NETWORK_WRONG', message, { peer });
    }
    if (oldest !== null && startHeight < oldest.height) {
      const message = `${peer} is at height ${startHeight}, below all of our points: it is still syncing`;
      return new UnspentError('SOURCE_UNREACHABLE', message, { peer });
    }
    const message =
      `${peer} has none of our blocks from height ${oldest?.height ?? 0} on: its chain forks below our horizon. ` +
      'Follow another node, or sync a new store from this one with another --data DIR';
    return new UnspentError('SOURCE_FORK', message, { peer });
  }

  /** The tree to which a header with that parent can be added. */
  private rooted(first: Uint8Array): HeaderTree {
    if (this.tree !== null && this.tree.find(first, PREV_AT) !== NONE) return this.tree;
    const root = this.ownPoint(prevHash(first));
    if (root === null) throw violation(`header ${formatId(headerHash(first))} follows none that we know`);
    this.tree = new HeaderTree(root);
    this.atNumber = NONE;
    this.own = 0;
    return this.tree;
  }

  /**
   * The newest block of the best branch that is ours, when where we are is not
   * on it. Our own headers are not there to compare work with, so the node is
   * believed, unless all it has is ours: then it only lags behind.
   */
  private lastOwn(tree: HeaderTree): number | null {
    this.own = tree.fork(this.own, tree.best);
    for (;;) {
      const next = tree.ancestor(tree.best, tree.height(this.own) + 1);
      if (next === NONE) return null;
      if (!this.isOurs(tree.hash(next))) return this.own;
      this.own = next;
    }
  }

  private isOurs(hash: Uint8Array): boolean {
    return this.from.some((point) => equalBytes(point.hash, hash)) || (this.chain !== undefined && this.chain.pointOf(hash) !== null);
  }

  private ownPoint(hash: Uint8Array): Point | null {
    return this.points().find((point) => equalBytes(point.hash, hash)) ?? null;
  }

  /** Newest first. The reader's own chain says more than what it came with, but may not have what was handed over last. */
  private points(): readonly Point[] {
    const { at } = this;
    const recent = this.chain?.recentPoints() ?? this.from;
    return at === null ? recent : [at, ...recent.filter(({ height }) => height < at.height)];
  }
}

function prevHash(header: Uint8Array): Uint8Array {
  return header.subarray(PREV_AT, PREV_AT + HASH_BYTES);
}
