/**
 * The tree of blocks the crash tests walk on: a main chain with forks. The
 * process that is killed reads it from two files, so that it starts fast; the
 * process that kills it knows in addition what every block adds up to.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/chains/random.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import type { ChainEvent, Run, Source } from '../../src/sources/source.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';

/** What lines and maps call the state before the first block. */
export const ORIGIN = 'origin';

export interface TreeBlock {
  /** Null: the first block. */
  readonly parent: TreeBlock | null;
  readonly height: number;
  readonly slot: number;
  /** Hex. */
  readonly hash: string;
  readonly raw: Uint8Array;
  readonly children: TreeBlock[];
}

export interface GenesisPair {
  readonly byron: string;
  readonly shelley: string;
}

export class Tree {
  /** Null: a regtest chain of the Bitcoin family, whose first block is built in. */
  readonly genesis: GenesisPair | null;
  readonly roots: TreeBlock[] = [];
  readonly blocks: TreeBlock[] = [];
  private readonly byHash = new Map<string, TreeBlock>();

  constructor(genesis: GenesisPair | null) {
    this.genesis = genesis;
  }

  add(parent: TreeBlock | null, height: number, slot: number, hash: string, raw: Uint8Array): TreeBlock {
    const block = { parent, height, slot, hash, raw, children: [] };
    (parent?.children ?? this.roots).push(block);
    this.blocks.push(block);
    this.byHash.set(hash, block);
    return block;
  }

  /** Null: the origin; undefined: no block of ours. */
  find(hash: string): TreeBlock | null | undefined {
    return hash === ORIGIN ? null : this.byHash.get(hash);
  }

  after(block: TreeBlock | null): readonly TreeBlock[] {
    return block === null ? this.roots : block.children;
  }

  /** At most `steps` blocks on, mostly by the main chain, whose block comes last where branches part. */
  descend(from: TreeBlock | null, steps: number, random: Random): TreeBlock | null {
    let block = from;
    for (let left = steps; left > 0 && this.after(block).length > 0; left--) {
      const next = this.after(block);
      block = random.chance(0.8) ? next[next.length - 1] : random.pick(next);
    }
    return block;
  }

  save(folder: string): void {
    const places = new Map(this.blocks.map((block, i) => [block, i]));
    const rows = this.blocks.map(({ parent, height, slot, hash, raw }) => [
      parent === null ? -1 : places.get(parent),
      height,
      slot,
      hash,
      raw.length,
    ]);
    writeFileSync(join(folder, 'tree.json'), JSON.stringify({ genesis: this.genesis, rows }));
    writeFileSync(join(folder, 'blocks'), concatBytes(...this.blocks.map((block) => block.raw)));
  }

  static load(folder: string): Tree {
    const { genesis, rows } = JSON.parse(readFileSync(join(folder, 'tree.json'), 'utf8')) as {
      genesis: GenesisPair | null;
      rows: [number, number, number, string, number][];
    };
    const bytes = new Uint8Array(readFileSync(join(folder, 'blocks')));
    const tree = new Tree(genesis);
    let at = 0;
    for (const [parent, height, slot, hash, length] of rows) {
      tree.add(parent < 0 ? null : tree.blocks[parent], height, slot, hash, bytes.subarray(at, at + length));
      at += length;
    }
    return tree;
  }
}

/** From the first block to this one. */
export function pathTo(block: TreeBlock | null): TreeBlock[] {
  const path: TreeBlock[] = [];
  for (let each = block; each !== null; each = each.parent) path.push(each);
  return path.reverse();
}

export function pointOf({ height, slot, hash }: TreeBlock): Point {
  return { height, slot, hash: fromHex(hash) };
}

/**
 * A source whose tip is that block: it finds the newest of our points on its
 * branch by itself and sends us back to it where that is not our tip. `size`
 * blocks come in one run; a run of one is a commit of one.
 */
export function sourceTo(tip: TreeBlock, size: number, onTurn?: (to: TreeBlock | null) => void): Source {
  return {
    name: `tree:${tip.hash}`,
    async *runs({ from }): AsyncIterable<Run> {
      const path = pathTo(tip);
      const places = new Map(path.map((block, i) => [block.hash, i]));
      const rank = from.findIndex((point) => places.has(toHex(point.hash)));
      const start = rank < 0 ? -1 : places.get(toHex(from[rank].hash))!;
      let events: ChainEvent[] = [];
      if (from.length > 0 && rank !== 0) {
        onTurn?.(start < 0 ? null : path[start]);
        events.push({ kind: 'back', point: start < 0 ? null : pointOf(path[start]) });
      }
      for (let i = start + 1; i < path.length; i++) {
        events.push({ kind: 'forward', raw: path[i].raw, height: path[i].height, intact: false });
        if (events.length < size && i < path.length - 1) continue;
        yield { events, atTip: size === 1 || i === path.length - 1, tip: { slot: tip.slot, height: tip.height } };
        events = [];
      }
      if (events.length > 0) yield { events, atTip: true };
    },
  };
}
