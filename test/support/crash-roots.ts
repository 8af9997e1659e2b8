/**
 * The roots of a store against those of trees built from nothing, out of what
 * the story says was unspent at the block the store is at.
 */
import { deepEqual } from 'node:assert/strict';
import { MuHash } from '../../src/crypto/muhash.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import type { StoryState } from './crash-story.ts';
import { pathTo, type TreeBlock } from './crash-tree.ts';
import { MmrModel } from './mmr-rig.ts';
import { cardanoOutput, rootFromScratch, type WorldOutput } from './tree-world.ts';

/** What switches all of them on. */
export const KEEP_PROOFS: readonly string[] = ['proofs.csmt=true', 'proofs.setHash=true', 'utxo.store=mmr'];

/** The unspent set as the trees see it. */
export interface SetOf {
  readonly outputs: ReadonlyMap<string, WorldOutput>;
  /** As people write it. */
  readonly setHash: string;
}

export function setOfStory({ unspent }: StoryState): SetOf {
  const set = new MuHash();
  for (const { utxo, slot } of unspent.values()) set.add(concatBytes(utxo.txId, little(utxo.index, 4), little(slot, 8), utxo.output));
  const outputs = new Map([...unspent].map(([name, { utxo }]) => [name, cardanoOutput(utxo)]));
  return { outputs, setHash: toHex(set.digest()) };
}

function little(value: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256);
}

export function checkRoots(store: OpenStore, block: TreeBlock | null, { outputs, setHash }: SetOf): void {
  const { ledger } = store.network;
  const blocks = pathTo(block).map(({ raw, height }) => ledger.decode(raw, height));
  const { size, pmmrRoot: root, bitmapRoot: bitmap, merged } = new MmrModel(ledger, blocks).roots;
  deepEqual(
    store.roots(),
    { mmr: merged, csmt: rootFromScratch(outputs), setHash, mmrDetails: { size, root, bitmap } },
    `the roots at ${block === null ? 'the origin' : `height ${block.height}`}`,
  );
}
