/**
 * An ImmutableDB folder as a chain to serve: settled blocks, read as they lie,
 * slab by slab, by as many readers as there are clients. It may still grow; it
 * never turns. Readers go no further than the tip that is told.
 */
import { readHeader } from '../../../ledgers/cardano/header.ts';
import type { CardanoNetwork } from '../../../ledgers/cardano/networks.ts';
import { openChunk } from '../../../sources/cardano/immutable/chunk.ts';
import { type ChunkFile, findFolder, listChunks, noChunks } from '../../../sources/cardano/immutable/folder.ts';
import type { Position } from '../../../sources/cardano/immutable/resume.ts';
import { walkChunk } from '../../../sources/cardano/immutable/walk.ts';
import type { AcquireFailure, AcquireTarget } from '../../../sources/cardano/ouroboros/local-state-query.ts';
import { samePoint, type WirePoint, type WireTip } from '../../../sources/cardano/ouroboros/point.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { FOLLOW_POLL_MS } from '../../../util/limits.ts';
import type { ChainReader, LedgerView, RangeReader, ServedChain } from './chain.ts';
import { ImmutableRanges, ImmutableReader } from './immutable-reader.ts';
import { RecentBatches } from './recent.ts';

/** What readers need to know of the folder. */
export interface ImmutableChunks {
  readonly chunks: readonly ChunkFile[];
  /** Behind the last block that is served. */
  readonly end: Position;
  readonly byronEpochSlots: number;
  readonly recent: RecentBatches;
}

/** Throws SOURCE_UNREACHABLE when there are no chunks. */
export async function openImmutableChain(path: string, network: CardanoNetwork, pollMs = FOLLOW_POLL_MS): Promise<ServedChain> {
  const folder = await findFolder(path);
  const chain = new ImmutableChain(folder, network);
  await chain.look();
  chain.watch(pollMs);
  return chain;
}

class ImmutableChain implements ServedChain, ImmutableChunks {
  readonly network: CardanoNetwork;
  readonly byronEpochSlots: number;
  readonly recent = new RecentBatches();
  tip: WireTip = { point: null, height: 0 };
  chunks: readonly ChunkFile[] = [];
  end: Position = { chunk: -1, offset: 0 };
  private readonly folder: string;
  private readonly listeners = new Set<() => void>();
  private era = 0;
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> = Promise.resolve();

  constructor(folder: string, network: CardanoNetwork) {
    this.folder = folder;
    this.network = network;
    this.byronEpochSlots = network.byronEpochSlots;
  }

  /** Takes in what the folder has more than before. */
  async look(): Promise<void> {
    const chunks = await listChunks(this.folder);
    if (chunks.length === 0) throw noChunks(this.folder);
    const first = this.end.chunk < 0;
    this.chunks = chunks;
    // Of a folder seen for the first time only the end matters, and it is in the last chunk that has a whole block.
    for (let i = chunks.length - 1; i >= 0 && (first || chunks[i].number >= this.end.chunk); i--) {
      const { number } = chunks[i];
      const start = number === this.end.chunk ? this.end.offset : 0;
      const { last, next } = await lastOf(chunks[i], start);
      if (last === null) continue;
      const { height, slot, hash, era } = readHeader(last, this.byronEpochSlots);
      // A copy, for the header is a view of a slab that should not stay.
      this.tip = { point: { slot, hash: hash.slice() }, height };
      this.era = era;
      this.end = { chunk: number, offset: next };
      for (const listener of [...this.listeners]) listener();
      return;
    }
  }

  watch(pollMs: number): void {
    const again = (): void => {
      this.looking = this.look()
        // A folder that cannot be listed for a moment has not grown.
        .catch((error) => {
          if (!isUnspentError(error)) throw error;
        })
        .then(() => {
          if (this.timer !== null) this.timer = setTimeout(again, pollMs).unref();
        });
    };
    this.timer = setTimeout(again, pollMs).unref();
  }

  reader(): ChainReader {
    return new ImmutableReader(this);
  }

  ranges(): RangeReader {
    return new ImmutableRanges(this);
  }

  view(target: AcquireTarget): LedgerView | AcquireFailure {
    const { point, height } = this.tip;
    if (target.at === 'point' && !samePoint(target.point, point)) return isBefore(target.point, point) ? 'pointTooOld' : 'pointNotOnChain';
    return { point, height: point === null ? null : height, era: this.era, release: () => {} };
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.listeners.add(own);
    return () => this.listeners.delete(own);
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.looking;
  }
}

/** The last whole block from `start` on, and where it ends; damage ends the chunk there. */
async function lastOf(file: ChunkFile, start: number): Promise<{ readonly last: Uint8Array | null; readonly next: number }> {
  const chunk = await openChunk(file);
  let last: Uint8Array | null = null;
  let next = start;
  try {
    for await (const batch of walkChunk(chunk, start)) {
      last = batch.blocks.at(-1)?.raw ?? last;
      next = batch.next;
    }
  } catch (error) {
    if (!isUnspentError(error, 'SOURCE_DAMAGED')) throw error;
  } finally {
    await chunk.close();
  }
  return { last, next };
}

function isBefore(a: WirePoint, b: WirePoint): boolean {
  return a === null || (b !== null && a.slot < b.slot && !equalBytes(a.hash, b.hash));
}
