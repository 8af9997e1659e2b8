/**
 * From one look at the chain to the next: where they part, which blocks are
 * new, and which scripts these touch.
 */
import type { ChainRow } from '../../../projections/chain.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';

/** Blocks whose hashes are remembered; a reorganisation that goes deeper makes every script suspect. */
const REMEMBERED = 4320;
/** New blocks that are read to see what they touch. With more, asking each script is less work. */
const READ_MAX = 16;
/** Scripts up to which asking each of them is less work than reading a block. */
const ASKED_MAX = 1000;

export interface Move {
  readonly tipChanged: boolean;
  /** Height of the newest block that both looks have; -1: none is known. */
  readonly fork: number;
  /** Blocks behind it, oldest first; null: too many to go through. */
  readonly blocks: readonly ChainRow[] | null;
}

/** The newest blocks of the chain as it was seen last. */
export class Recent {
  private readonly seen: ChainRow[] = [];

  constructor(query: Query) {
    this.follow(query);
  }

  /** What has happened since the last time; the query is the last time from here on. */
  follow(query: Query): Move {
    let undone = false;
    for (let last = this.seen.at(-1); last !== undefined && !isOn(query, last); last = this.seen.at(-1)) {
      this.seen.pop();
      undone = true;
    }
    const last = this.seen.at(-1) ?? null;
    const fork = last?.height ?? -1;
    const head = query.head?.height ?? -1;
    if (head - fork <= READ_MAX) return this.step(fork, [...query.blocksAfter(last)], undone);
    const tip = query.blockAtHeight(head);
    this.seen.length = 0;
    if (tip !== null) this.seen.push(tip);
    return { tipChanged: true, fork, blocks: null };
  }

  private step(fork: number, blocks: readonly ChainRow[], undone: boolean): Move {
    this.seen.push(...blocks);
    if (this.seen.length > REMEMBERED) this.seen.splice(0, this.seen.length - REMEMBERED);
    return { tipChanged: undone || blocks.length > 0, fork, blocks };
  }
}

function isOn(query: Query, { height, hash }: ChainRow): boolean {
  const row = query.blockAtHeight(height);
  return row !== null && equalBytes(row.hash, hash);
}

/** Hex of the keys of all scripts that the new blocks pay to or spend from; null: ask each of the `watched` scripts instead. */
export function touchedBy(query: Query, { blocks }: Move, watched: number): Set<string> | null {
  if (blocks === null || watched <= ASKED_MAX * blocks.length) return null;
  const names = new Set<string>();
  try {
    for (const row of blocks) addTouched(query, row, names);
    return names;
  } catch (error) {
    if (isUnspentError(error, 'PRUNED')) return null;
    throw error;
  }
}

function addTouched(query: Query, row: ChainRow, names: Set<string>): void {
  const { created, spent } = query.changes(row);
  for (const list of [created, spent]) {
    for (const { output } of list) if (output.keys.address !== undefined) names.add(toHex(output.keys.address));
  }
}
