/**
 * Blocks along the header path: which to ask a node for next, and those that
 * came, checked and in order. If another branch has more work than ours, we
 * switch to it only when its first block has arrived: headers alone never
 * cause a rollback.
 */
import { type BitcoinBlock, type BitcoinLedger, type BitcoinNetwork, bitcoinLedger, genesisBlock } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { HeaderTree } from '../header-tree.ts';
import { BlockWindow } from './block-window.ts';
import { violation } from './frame.ts';
import type { HeaderPath } from './header-path.ts';

/** Blocks to ask for at once, when that many are on their way already: a question for each would be as long as some blocks are. */
const ASK_LEAST = 32;
const NONE = -1;

/** `back`: where to go first, when it is not where we are. */
export interface Step {
  readonly back: Point | null;
  readonly block: BitcoinBlock;
}

export class Downloads {
  /** What the node has shown: anything of this network, and all of its headers. */
  isOfNetwork = false;
  isSynced = false;
  private readonly network: BitcoinNetwork;
  private readonly route: HeaderPath;
  private readonly ledger: BitcoinLedger;
  private readonly window = new BlockWindow();
  /** The newest block asked for on the best branch, and the tree in which that is its number; -1: look anew. */
  private asked = NONE;
  private askedIn: HeaderTree | null = null;

  constructor(network: BitcoinNetwork, route: HeaderPath) {
    this.network = network;
    this.route = route;
    this.ledger = bitcoinLedger(network);
  }

  /** Blocks on their way. */
  get waiting(): number {
    return this.window.waiting;
  }

  has(hash: Uint8Array): boolean {
    return this.window.has(hash);
  }

  /** As many blocks are held as the limit allows, and can be taken. */
  get isFull(): boolean {
    if (!this.window.isFull) return false;
    const next = this.next();
    return next !== null && this.bytesOf(next.number) !== undefined;
  }

  /** Nothing further is known of; a node that lags behind us, or is on a branch with less work, has nothing further either. */
  get isDone(): boolean {
    const base = this.route.base();
    return this.isSynced && this.route.isAt(base) && this.route.after(base) === NONE;
  }

  /** Hashes of the blocks to ask for now; they count as asked for. */
  ask(): Uint8Array[] {
    const { route, window } = this;
    const { tree } = route;
    if (window.room < Math.min(window.waiting, ASK_LEAST)) return [];
    const hashes: Uint8Array[] = [];
    let number = this.lastAsked(tree, route.base());
    for (let { room } = window; room > 0; ) {
      number = route.after(number);
      if (number === NONE) break;
      this.asked = number;
      const hash = tree.hash(number);
      if (window.has(hash)) continue;
      hashes.push(hash);
      window.ask(hash);
      room--;
    }
    return hashes;
  }

  /** Takes a block that came. Throws PROTOCOL. */
  arrived(raw: Uint8Array): void {
    const hash = this.window.arrived(raw);
    if (this.isWanted(hash)) return;
    this.window.drop(hash);
    this.asked = NONE;
  }

  /** Moves to the next block if it is here; null: it is not. Throws PROTOCOL when it is not what its header says. */
  step(): Step | null {
    const next = this.next();
    const raw = next === null ? undefined : this.bytesOf(next.number);
    if (next === null || raw === undefined) return null;
    const block = this.checked(raw, this.route.tree.height(next.number));
    const back = this.route.isAt(next.base) ? null : this.turn(next.base);
    this.route.move(next.number);
    this.window.drop(block.hash);
    return { back, block };
  }

  private next(): { readonly base: number; readonly number: number } | null {
    const base = this.route.base();
    const number = this.route.after(base);
    return number === NONE ? null : { base, number };
  }

  private turn(base: number): Point {
    const point = this.route.move(base);
    this.window.keepOnly((hash) => this.isWanted(hash));
    this.asked = NONE;
    return point;
  }

  /** The first block of all is built in, but comes only when the node has shown that it is of this network, if it has anything to show. */
  private bytesOf(number: number): Uint8Array | undefined {
    const { tree } = this.route;
    if (tree.height(number) > 0) return this.window.peek(tree.hash(number));
    return this.isOfNetwork || this.isSynced ? genesisBlock(this.network) : undefined;
  }

  private checked(raw: Uint8Array, height: number): BitcoinBlock {
    try {
      const block = this.ledger.decode(raw, height);
      this.ledger.verify(block);
      return block;
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw violation(`the block at height ${height} is not sound, or cannot be read: ${error.message}`, { height }, error);
    }
  }

  /** The block on the best branch after which to ask for more. */
  private lastAsked(tree: HeaderTree, base: number): number {
    if (this.askedIn !== tree) this.asked = NONE;
    this.askedIn = tree;
    const { asked } = this;
    const from = Math.max(base, 0);
    const isOnBranch = asked !== NONE && tree.ancestor(tree.best, tree.height(asked)) === asked;
    return isOnBranch && tree.height(asked) > tree.height(from) ? asked : from;
  }

  private isWanted(hash: Uint8Array): boolean {
    const { tree } = this.route;
    const number = tree.find(hash);
    return number !== NONE && tree.ancestor(tree.best, tree.height(number)) === number;
  }
}
