/**
 * A cardano-node's ImmutableDB folder as a source (`immutable:PATH`): its blocks
 * in chain order from where we are, then, when asked, whatever the node adds.
 *
 * The last chunk may still be growing, so a block cut off at its very end is not
 * there yet; cut off anywhere else it is damage. Files are only ever read.
 */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Point } from '../../../ledgers/ledger.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { FOLLOW_POLL_MS } from '../../../util/limits.ts';
import { readAhead } from '../../read-ahead.ts';
import type { FollowOptions, Run, Source, SourceTip } from '../../source.ts';
import { openChunk } from './chunk.ts';
import type { ChunkFile } from './folder.ts';
import { findFolder, listChunks, noChunks, unreachable } from './folder.ts';
import type { Position } from './resume.ts';
import { findTip, locate, tipOf } from './resume.ts';
import { type Batch, walkChunk } from './walk.ts';

export interface ImmutableOptions {
  /** Slots of a Byron epoch: 10k of the network. */
  readonly byronEpochSlots: number;
  /** Milliseconds between looks at a folder that may grow. */
  readonly pollMs?: number;
}

export function openImmutable(path: string, options: ImmutableOptions): Source {
  const name = `immutable:${path}`;
  return {
    name,
    final: true,
    runs({ from, signal, follow }: FollowOptions): AsyncIterable<Run> {
      const left = new AbortController();
      const either = AbortSignal.any([signal, left.signal]);
      const reading = new Reading(name, path, options, { from, follow, signal: either });
      return until(
        signal,
        readAhead(reading.runs(), () => left.abort()),
      );
    },
  };
}

async function* until<T>(signal: AbortSignal, items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  if (signal.aborted) return;
  for await (const item of items) {
    if (signal.aborted) return;
    yield item;
  }
}

/** One pass over the folder. */
class Reading {
  private readonly name: string;
  private readonly path: string;
  private readonly byronEpochSlots: number;
  private readonly pollMs: number;
  private readonly options: FollowOptions;
  private folder = '';
  private chunks: readonly ChunkFile[] = [];
  private tip: SourceTip | undefined;
  /** Size of the last chunk when we last read or looked at it: what "grown" is measured against. */
  private sizeSeen = -1;

  constructor(name: string, path: string, { byronEpochSlots, pollMs = FOLLOW_POLL_MS }: ImmutableOptions, options: FollowOptions) {
    this.name = name;
    this.path = path;
    this.byronEpochSlots = byronEpochSlots;
    this.pollMs = pollMs;
    this.options = options;
  }

  async *runs(): AsyncGenerator<Run, void, undefined> {
    this.folder = await findFolder(this.path);
    this.chunks = await listChunks(this.folder);
    const start = yield* this.resume(this.options.from);
    if (start !== null) yield* this.readFrom(start);
  }

  /** Finds our place: behind the newest of our points that is here. Null: there is nothing for us. */
  private async *resume(from: readonly Point[]): AsyncGenerator<Run, Position | null, undefined> {
    let told = false;
    while (!this.options.signal.aborted) {
      await this.lookAtLast();
      this.tip = await findTip(this.chunks, this.byronEpochSlots);
      if (from.length === 0) return { chunk: this.chunks[0].number, offset: 0 };
      const tipSlot = this.tip?.slot ?? -1;
      const reachable = from.filter(({ slot }) => slot <= tipSlot);
      const place = await locate(this.chunks, reachable, this.byronEpochSlots);
      if (place !== null) {
        return place.position;
      }
      if (tipSlot >= from[0].slot) throw this.fork(from);
      // We are ahead of the folder; what it will hold at our slot cannot be known yet.
      if (!told) yield this.run([], true);
      told = true;
      if (!this.options.follow) return null;
      await this.waitForGrowth();
    }
    return null;
  }

  private async *readFrom({ chunk: number, offset }: Position): AsyncGenerator<Run, void, undefined> {
    const { signal, follow } = this.options;
    let position = { chunk: number, offset };
    let told = false;
    while (!signal.aborted) {
      const i = this.chunks.findIndex((chunk) => chunk.number === position.chunk);
      if (i < 0) throw new UnspentError('SOURCE_UNREACHABLE', `${this.folder}: chunk ${position.chunk} has gone while it was read`);
      const file = this.chunks[i];
      const isLast = i === this.chunks.length - 1;
      let atTip = false;
      for await (const { blocks, next, rest } of this.batches(file, position.offset)) {
        position = { chunk: file.number, offset: next };
        // Only a look taken after the chunk's end was read can say that nothing comes after it.
        if (rest !== 'more' && isLast) atTip = !(await this.hasNewChunks());
        if (blocks.length > 0) this.advanceTip(blocks[blocks.length - 1].raw);
        if (blocks.length > 0 || (atTip && !told)) yield this.run(blocks, atTip);
        told = atTip;
        if (signal.aborted) return;
        if (rest === 'cut' && !isLast) throw cutInside(file, next);
      }
      // A chunk found to be no longer the last is read once more: it may have grown before the next one was begun.
      if (!isLast) position = { chunk: this.chunks[i + 1].number, offset: 0 };
      if (!atTip) continue;
      if (!follow) return;
      await this.waitForGrowth();
    }
  }

  private async *batches(file: ChunkFile, start: number): AsyncGenerator<Batch, void, undefined> {
    const chunk = await openChunk(file);
    this.sizeSeen = chunk.size;
    try {
      yield* walkChunk(chunk, start);
    } finally {
      await chunk.close();
    }
  }

  private run(events: Run['events'], atTip: boolean): Run {
    return this.tip === undefined ? { events, atTip } : { events, tip: this.tip, atTip };
  }

  private advanceTip(raw: Uint8Array): void {
    const last = tipOf(raw, this.byronEpochSlots);
    if (last !== undefined && last.slot >= (this.tip?.slot ?? -1)) this.tip = last;
  }

  private async hasNewChunks(): Promise<boolean> {
    const before = this.chunks[this.chunks.length - 1].number;
    this.chunks = await listChunks(this.folder);
    if (this.chunks.length === 0) throw noChunks(this.folder);
    return this.chunks[this.chunks.length - 1].number > before;
  }

  /** True when the last chunk's size is not what we saw before. */
  private async lookAtLast(): Promise<boolean> {
    const { path, packed } = this.chunks[this.chunks.length - 1];
    // An archived chunk is finished: it does not grow.
    if (packed) return false;
    let size: number;
    try {
      ({ size } = await stat(path));
    } catch (error) {
      throw unreachable(path, error);
    }
    const changed = size !== this.sizeSeen;
    this.sizeSeen = size;
    return changed;
  }

  /** Returns when there is something new to read, or on abort. */
  private async waitForGrowth(): Promise<void> {
    const { signal } = this.options;
    while (!signal.aborted) {
      try {
        await sleep(this.pollMs, undefined, { signal });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      if ((await this.hasNewChunks()) || (await this.lookAtLast())) return;
    }
  }

  private fork(from: readonly Point[]): UnspentError {
    const [{ slot, hash }] = from;
    const message = `${this.name}: none of our ${from.length} points is on its chain (our newest: slot ${slot}, block ${toHex(hash)})`;
    return new UnspentError('SOURCE_FORK', message, { points: from.length, slot });
  }
}

function cutInside(file: ChunkFile, offset: number): UnspentError {
  const message = `${file.name}, byte ${offset}: the chunk ends inside this block, and more chunks follow`;
  return new UnspentError('SOURCE_DAMAGED', message, { path: file.path, offset });
}
