/**
 * Reads what a child said before it was killed, and from that tells in which
 * operation it died and which states may be found: the last acknowledged one,
 * or a later one on the way to where the operation was going.
 */
import { ORIGIN, pathTo, type Tree, type TreeBlock } from './crash-tree.ts';

export type Operation = 'sync' | 'reorg' | 'rollback' | 'prune';

/** Where a child can die: in an operation, in opening or closing, or between two operations. */
export const PHASES = ['create', 'open', 'sync', 'reorg', 'rollback', 'prune', 'close', 'between'] as const;
export type Phase = (typeof PHASES)[number];

/** What a child is asked to do, as one line of JSON. */
export interface Job {
  readonly data: string;
  readonly seed: number;
  readonly creates: boolean;
  readonly selfContained: boolean;
  /** Further settings, as `key=value`. */
  readonly set?: readonly string[];
  readonly focus: Operation | null;
  /** Operations until it closes the store. */
  readonly steps: number;
}

export class Witness {
  /** Operation not ended yet. */
  phase: Phase = 'between';
  /** Lines seen that begin or acknowledge something: a child that said nothing did nothing. */
  acknowledged = 0;
  forgotten = { spent: -1, deltas: -1 };
  private readonly tree: Tree;
  private last: TreeBlock | null;
  private target: TreeBlock | null = null;
  /** Where the source sends the store back to before it goes on; undefined: nowhere. */
  private turn: TreeBlock | null | undefined;

  /** `last` is the state the child finds. */
  constructor(tree: Tree, last: TreeBlock | null) {
    this.tree = tree;
    this.last = last;
  }

  hear(line: string): void {
    const [word, first = '', second = ''] = line.split(' ');
    if (word === 'begin') this.begin(first as Phase, second);
    else if (word === 'turn') this.turn = this.block(first);
    else if (word === 'ack') this.acknowledge(this.block(first));
    else if (word === 'pruned') this.forgotten = { spent: Number(first), deltas: Number(second) };
    else if (word === 'end') this.begin('between', '');
    else throw new Error(`a child said '${line}'`);
  }

  /** Hashes of the states that may be found now. */
  possible(): ReadonlySet<string> {
    const found = new Set([name(this.last)]);
    const to = this.phase === 'rollback' ? this.target : this.turn;
    if (to !== undefined) for (const block of upTo(this.last, to)) found.add(name(block));
    if (this.phase !== 'sync' && this.phase !== 'reorg') return found;
    const path = pathTo(this.target);
    const from = this.turn === undefined ? this.last : this.turn;
    // Before the source has spoken, a branch that does not hold our block cannot have been touched.
    const start = from === null ? 0 : path.indexOf(from) + 1;
    if (from === null || start > 0) for (const block of path.slice(start)) found.add(block.hash);
    return found;
  }

  private begin(phase: Phase, target: string): void {
    this.phase = phase;
    this.target = target === '' ? null : this.block(target);
    this.turn = undefined;
  }

  private acknowledge(block: TreeBlock | null): void {
    if (!this.possible().has(name(block))) throw new Error(`a child acknowledged ${name(block)} in ${this.phase}, where it cannot be`);
    this.last = block;
    this.acknowledged++;
    if (block === this.turn) this.turn = undefined;
  }

  private block(hash: string): TreeBlock | null {
    const block = this.tree.find(hash);
    if (block === undefined) throw new Error(`a child named the block ${hash}, which is not of the story`);
    return block;
  }
}

function name(block: TreeBlock | null): string {
  return block?.hash ?? ORIGIN;
}

/** From a block back to its ancestor `to`, which is the last. */
function upTo(block: TreeBlock | null, to: TreeBlock | null): (TreeBlock | null)[] {
  const found: (TreeBlock | null)[] = [];
  for (let each = block; each !== to; each = each.parent) {
    if (each === null) throw new Error(`${name(to)} is not behind ${name(block)}`);
    found.push(each);
  }
  return [...found, to];
}
