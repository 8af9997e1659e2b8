/**
 * Blocks of a node's best chain: consecutive heights in order, fetched a few
 * batches ahead of the reader. The number of blocks in a batch follows from
 * the size of the last ones.
 */
import { RPC_BATCH_BYTES, RPC_BATCH_CALLS_MAX, RPC_BATCHES_AHEAD } from '../../../util/limits.ts';
import type { RpcNode } from './node.ts';

export interface FetchedBlock {
  readonly height: number;
  readonly hash: Uint8Array;
  readonly raw: Uint8Array;
}

const FIRST_BATCH = 16;

export class BlockFetcher {
  private readonly node: RpcNode;
  private next: number;
  private readonly last: number;
  private readonly waiting: Promise<FetchedBlock[]>[] = [];
  private batchBlocks = FIRST_BATCH;

  constructor(node: RpcNode, first: number, last: number) {
    this.node = node;
    this.next = first;
    this.last = last;
  }

  /** The next blocks; none at the end, or where the node's chain no longer reaches. */
  async take(): Promise<FetchedBlock[]> {
    this.fill();
    const blocks = (await this.waiting.shift()) ?? [];
    this.learn(blocks);
    this.fill();
    return blocks;
  }

  private fill(): void {
    while (this.waiting.length < RPC_BATCHES_AHEAD && this.next <= this.last) {
      const count = Math.min(this.batchBlocks, this.last - this.next + 1);
      const batch = this.fetch(this.next, count);
      // It is awaited later, or never; until then its failure is not an unhandled one.
      batch.catch(() => {});
      this.waiting.push(batch);
      this.next += count;
    }
  }

  /** As many as make a batch of the size wanted, but never suddenly many more. */
  private learn(blocks: readonly FetchedBlock[]): void {
    if (blocks.length === 0) return;
    let bytes = 0;
    for (const { raw } of blocks) bytes += raw.length;
    const fitting = Math.floor((RPC_BATCH_BYTES * blocks.length) / bytes);
    this.batchBlocks = Math.max(1, Math.min(fitting, 4 * this.batchBlocks, RPC_BATCH_CALLS_MAX));
  }

  /** Stops at the first that is not there: between two questions the node may have turned to another branch. */
  private async fetch(first: number, count: number): Promise<FetchedBlock[]> {
    const found = await this.node.hashesAt(Array.from({ length: count }, (_, i) => first + i));
    const hashes = untilNull(found);
    const raws = untilNull(hashes.length === 0 ? [] : await this.node.blocks(hashes));
    return raws.map((raw, i) => ({ height: first + i, hash: hashes[i], raw }));
  }
}

function untilNull<T>(items: readonly (T | null)[]): T[] {
  const end = items.indexOf(null);
  return (end < 0 ? items : items.slice(0, end)) as T[];
}
