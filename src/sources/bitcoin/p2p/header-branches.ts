/**
 * Headers from which branches can be compared: our own chain first, from as far
 * down as it takes to check what follows, then whatever a node adds to it, each
 * header checked before it is taken. Since ours are there first, another branch
 * is the best one only when it has more work than ours has above the fork.
 *
 * What it holds is bounded: a branch without end, or side branches without
 * number, are PROTOCOL.
 */
import { RETARGET_BLOCKS } from '../../../ledgers/bitcoin/difficulty.ts';
import { type BitcoinNetwork, formatId, genesisBlock, headerHash, readExtra } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { P2P_HEADERS_KEPT_MAX } from '../../../util/limits.ts';
import type { OwnChain } from '../../source.ts';
import { HeaderRules } from '../header-rules.ts';
import { HeaderTree, rootOf } from '../header-tree.ts';
import { violation } from './frame.ts';

const NONE = -1;
const PREV_AT = 4;
/** Below the first block of a period: what a median takes, and the block more that Litecoin's schedule looks at. */
const HEADERS_BEFORE = 12;
/** Hashes of a locator: the newest ones by one, then by steps that double; a hundred and one are allowed. */
const LOCATOR_DENSE = 10;

export class HeaderBranches {
  tree: HeaderTree;
  private readonly rules: HeaderRules;

  constructor(rules: HeaderRules, tree: HeaderTree) {
    this.rules = rules;
    this.tree = tree;
  }

  /** The branch that ends in `end` alone, from where the schedule above `height` can be checked. */
  branch(end: number, height: number): HeaderBranches {
    return new HeaderBranches(this.rules, this.tree.branch(end, neededBelow(height)));
  }

  /** Hashes for a node to find common ground by: back from `since`, down to the root. */
  locator(since: number = this.tree.best): Uint8Array[] {
    const { tree } = this;
    const hashes: Uint8Array[] = [];
    for (let height = tree.height(since), step = 1; ; height -= step) {
      const number = tree.ancestor(since, Math.max(height, tree.lowest));
      hashes.push(tree.hash(number));
      if (number === 0) return hashes;
      if (hashes.length >= LOCATOR_DENSE) step *= 2;
    }
  }

  /** Whether the parent of this header is known. */
  links(header: Uint8Array): boolean {
    return this.tree.find(header, PREV_AT) !== NONE;
  }

  /** Takes headers of which the first links; the number of the last. Throws PROTOCOL at the first that may not stand where it does. */
  take(headers: readonly Uint8Array[]): number {
    const { tree } = this;
    if (tree.size + headers.length > P2P_HEADERS_KEPT_MAX)
      throw violation(`more headers than are kept (${P2P_HEADERS_KEPT_MAX}), of branches that lead nowhere`);
    const now = Math.floor(Date.now() / 1000);
    let last = tree.find(headers[0], PREV_AT);
    for (const header of headers) {
      const hash = headerHash(header);
      if (tree.find(header, PREV_AT) !== last) throw wrong(hash, 'does not follow the one before it');
      if (tree.find(hash) === NONE) {
        const fault = this.rules.fault(tree, last, header, hash, now);
        if (fault !== null) throw wrong(hash, fault);
      }
      last = tree.add(header, hash);
    }
    return last;
  }
}

/** Headers of a network before any node has sent some: only the first block, which is built in. */
export function headersOfNetwork(network: BitcoinNetwork): HeaderBranches {
  return new HeaderBranches(new HeaderRules(network), new HeaderTree(rootOf(genesisBlock(network), 0)));
}

/** The reader's own headers, so that branches can be compared that leave it at `height` or above. It has blocks. */
export function headersOfChain(network: BitcoinNetwork, chain: OwnChain, height: number): HeaderBranches {
  let tree: HeaderTree | null = null;
  for (const block of chain.blocksFrom(neededBelow(height))) {
    const { header } = readExtra(block.extra);
    if (tree === null) tree = new HeaderTree(rootOf(header, block.height));
    else if (tree.add(header) === NONE)
      throw new UnspentError('STORE_DAMAGED', `our block ${formatId(block.hash)} has no parent in our chain`);
  }
  return tree === null ? headersOfNetwork(network) : new HeaderBranches(new HeaderRules(network), tree);
}

/** The lowest header that checking a block above `height` may take. */
function neededBelow(height: number): number {
  return Math.max(0, height - (height % RETARGET_BLOCKS) - HEADERS_BEFORE);
}

function wrong(hash: Uint8Array, why: string): UnspentError {
  return violation(`header ${formatId(hash)} ${why}`, { hash: formatId(hash) });
}
