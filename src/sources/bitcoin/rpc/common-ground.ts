/**
 * Where the reader's chain and the node's part: the newest block of the reader
 * that is on the node's best chain. A few of the reader's points first, all at
 * once, and then by halves between the last that is shared and the next.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import type { DeliveredBlocks } from './delivered-blocks.ts';
import type { RpcNode } from './node.ts';

/** Null: nothing is shared of what the reader can go back to. */
export async function findCommon(node: RpcNode, handedOver: DeliveredBlocks): Promise<Point | null> {
  const points = handedOver.candidates();
  const hashes = await node.hashesAt(points.map(({ height }) => height));
  const shared = points.findIndex(({ hash }, i) => isSame(hash, hashes[i]));
  if (shared <= 0) return points[shared] ?? null;
  return between(node, handedOver, points[shared], points[shared - 1].height);
}

/** The newest block shared, from `low`, which is, up to below `high`, which is not. */
async function between(node: RpcNode, handedOver: DeliveredBlocks, low: Point, high: number): Promise<Point> {
  while (high - low.height > 1) {
    const height = (low.height + high) >> 1;
    const [hash] = await node.hashesAt([height]);
    const ours = hash === null ? null : handedOver.find(height, hash);
    if (ours === null) high = height;
    else low = ours;
  }
  return low;
}

function isSame(hash: Uint8Array, other: Uint8Array | null): boolean {
  return other !== null && equalBytes(hash, other);
}
