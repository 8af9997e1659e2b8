/**
 * A node's block files as a source (`blk:PATH`): blocks stand in them in order
 * of arrival, side branches among them. The headers are read first, checked, and
 * say which chain has the most work; if it has more than ours, its blocks are handed over in order, the next
 * ones being read while the present ones are folded. Then, when asked, whatever
 * the node adds, with a step back where another branch has become the better.
 */
import { workOf } from '../../../ledgers/bitcoin/difficulty.ts';
import { type BitcoinNetwork, formatId, genesisBlock, readExtra, readHeader } from '../../../ledgers/bitcoin/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { FOLLOW_POLL_MS } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import { readAhead } from '../../read-ahead.ts';
import type { ChainEvent, FollowOptions, Run, Source } from '../../source.ts';
import { BlockIndex, type Place } from './block-index.ts';
import { findBlocks, readKey } from './folder.ts';
import { FolderScan } from './scan.ts';
import { StretchReader, stretchLength } from './stretch.ts';

export interface BlkOptions {
  /** Milliseconds between looks at a folder that may grow. */
  readonly pollMs?: number;
}

export function openBlk(path: string, network: BitcoinNetwork, { pollMs = FOLLOW_POLL_MS }: BlkOptions = {}): Source {
  return {
    name: `blk:${path}`,
    runs(options: FollowOptions): AsyncIterable<Run> {
      const left = new AbortController();
      const signal = AbortSignal.any([options.signal, left.signal]);
      const reading = new Reading(path, network, pollMs, { ...options, signal });
      return readAhead(reading.runs(), () => left.abort());
    },
  };
}

/** Instead of the number of a block: the reader has none. */
const ORIGIN = -1;

/** One pass over the folder, from where the reader is. */
class Reading {
  private readonly path: string;
  private readonly network: BitcoinNetwork;
  private readonly pollMs: number;
  private readonly options: FollowOptions;
  private readonly index: BlockIndex;
  /** The block handed over last; null: the reader's place is not found yet. */
  private at: number | null = null;

  constructor(path: string, network: BitcoinNetwork, pollMs: number, options: FollowOptions) {
    this.path = path;
    this.network = network;
    this.pollMs = pollMs;
    this.options = options;
    this.index = new BlockIndex(network);
  }

  async *runs(): AsyncGenerator<Run, void, undefined> {
    const { signal, follow } = this.options;
    const folder = await findBlocks(this.path, this.network);
    const key = await readKey(folder);
    const scan = new FolderScan(folder, this.network, key, this.index);
    const reader = new StretchReader(folder, key);
    let told = false;
    try {
      while (!signal.aborted) {
        await scan.look(signal);
        if (signal.aborted) return;
        const isNew = yield* this.handOver(reader);
        if (!isNew && !told) yield this.run([], true);
        told = true;
        if (!follow) return;
        await pause(this.pollMs, { signal });
      }
    } finally {
      await reader.close();
    }
  }

  /** All that is new of the best chain. True when there was something. */
  private async *handOver(reader: StretchReader): AsyncGenerator<Run, boolean, undefined> {
    const { tree } = this.index;
    const isFirstLook = this.at === null;
    const start = this.at ?? this.locate();
    if (start === null) return false;
    const { best } = tree;
    const fork = start === ORIGIN ? ORIGIN : tree.fork(start, best);
    const isElsewhere = isFirstLook ? !this.isNewest(fork) : fork !== start;
    if (isElsewhere) yield this.run([{ kind: 'back', point: this.point(fork) }], false);
    this.at = fork;
    if (fork === ORIGIN) yield this.run([{ kind: 'forward', raw: genesisBlock(this.network), intact: true, height: 0 }], best === 0);
    yield* this.advance(reader, Math.max(fork, 0), best);
    this.at = best;
    return fork !== best;
  }

  /** From behind one block up to and with another, in as few reads as are worth it. */
  private async *advance(reader: StretchReader, from: number, to: number): AsyncGenerator<Run, void, undefined> {
    const { tree } = this.index;
    const first = tree.height(from) + 1;
    const count = tree.height(to) + 1 - first;
    const placeOf = (i: number): Place => this.index.place(tree.ancestor(to, first + i));
    for (let i = 0; i < count && !this.options.signal.aborted; ) {
      const length = stretchLength(placeOf, i, count);
      const start = i;
      const raws = await reader.read(Array.from({ length }, (_, k) => placeOf(start + k)));
      i += length;
      const events = raws.map((raw, k): ChainEvent => ({ kind: 'forward', raw, intact: false, height: first + start + k }));
      yield this.run(events, i === count);
    }
  }

  /** The reader's newest block that is on the best chain; null: the folder is behind the reader, or has less work. Throws SOURCE_FORK. */
  private locate(): number | null {
    const { from } = this.options;
    const { tree, orphans } = this.index;
    if (orphans > 0 && tree.size === 1) throw this.rootless(orphans);
    if (from.length === 0) return ORIGIN;
    const known = from.find(({ hash }) => tree.find(hash) >= 0);
    const tip = tree.height(tree.best);
    if (known === undefined) {
      // What the folder will hold at our height cannot be known yet.
      if (tip < from[from.length - 1].height) return null;
      throw this.forked();
    }
    const shared = this.refine(tree.fork(tree.find(known.hash), tree.best), known === from[0]);
    return this.isNewest(shared) || this.hasMoreWork(shared) ? shared : null;
  }

  /** Whether the best chain has more work above `shared` than the reader's own. Where that cannot be asked, it only has to be longer than nothing. */
  private hasMoreWork(shared: number): boolean {
    const { tree } = this.index;
    const theirs = tree.work(tree.best) - tree.work(shared);
    let ours = 0n;
    for (const { extra } of this.options.chain?.blocksFrom(tree.height(shared) + 1) ?? [])
      ours += workOf(readHeader(readExtra(extra).header).bits);
    return theirs > ours;
  }

  /** The points in `from` are far apart; the reader's own chain says more. */
  private refine(shared: number, isExact: boolean): number {
    const { from, chain } = this.options;
    const { tree } = this.index;
    if (isExact || chain === undefined) return shared;
    let low = tree.height(shared);
    let high = Math.min(from[0].height, tree.height(tree.best)) + 1;
    while (high - low > 1) {
      const height = (low + high) >> 1;
      if (chain.pointOf(tree.hash(tree.ancestor(tree.best, height))) === null) high = height;
      else low = height;
    }
    return tree.ancestor(tree.best, low);
  }

  /** Whether that is where the reader was when it came. */
  private isNewest(number: number): boolean {
    const [newest] = this.options.from;
    return newest === undefined ? number === ORIGIN : number !== ORIGIN && equalBytes(newest.hash, this.index.tree.hash(number));
  }

  private point(number: number): Point {
    const { tree } = this.index;
    const height = tree.height(number);
    return { height, slot: height, hash: tree.hash(number) };
  }

  private run(events: readonly ChainEvent[], atTip: boolean): Run {
    const height = this.index.tree.height(this.index.tree.best);
    return { events, tip: { slot: height, height }, atTip };
  }

  private forked(): UnspentError {
    const { from } = this.options;
    const [{ height, hash }] = from;
    const message = `blk:${this.path}: none of our ${from.length} points is on its chain (our newest: height ${height}, block ${formatId(hash)})`;
    return new UnspentError('SOURCE_FORK', message, { points: from.length, height });
  }

  private rootless(orphans: number): UnspentError {
    const message = `blk:${this.path}: ${orphans} blocks, but not the one behind the first of the chain: the files of a node that prunes cannot be followed`;
    return new UnspentError('SOURCE_UNREACHABLE', message, { orphans });
  }
}
