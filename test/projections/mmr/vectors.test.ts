/**
 * The five blocks of the specification, folded into a store: each leaves the
 * very record it should, proofs hold for its root, and the way back leads to
 * every one of them again.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block } from '../../../src/ledgers/ledger.ts';
import { mmr } from '../../../src/proofs/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { needsVectors, readVectors } from '../../proofs/support.ts';
import { assertSameDump, dump } from '../../support/harness.ts';
import { type MmrRig, mmrRig } from '../../support/mmr-rig.ts';
import { type PlainTx, plainBlock, plainLedger } from '../../support/wide-chain.ts';

interface Roots {
  readonly size: number;
  readonly pmmrRoot: string;
  readonly bitmapRoot: string;
  readonly merged: string;
  readonly unspentLeafIndices: readonly number[];
}

interface VectorBlock extends Roots {
  readonly height: number;
  readonly prevSize: number;
  readonly peaks: readonly string[];
  readonly created: readonly { readonly ref: string; readonly txOut: string; readonly leafIndex: number }[];
  readonly spent: readonly { readonly ref: string; readonly leafIndex: number }[];
}

interface Vectors {
  readonly blocks: readonly VectorBlock[];
  readonly rewind: readonly { readonly to: number; readonly expect: Roots }[];
}

const hashOf = (height: number): Uint8Array => new Uint8Array(32).fill(height);
const parseRef = (ref: string): { readonly id: Uint8Array; readonly index: number } => {
  const [id, index] = ref.split('#');
  return { id: fromHex(id), index: Number(index) };
};

/** A transaction for each id that creates, then one that spends: what the block itself created may be among that. */
function blockOf({ height, created, spent }: VectorBlock): Block {
  const txs = new Map<string, PlainTx & { readonly outputs: PlainTx['outputs'][number][] }>();
  for (const { ref, txOut } of created) {
    const { id, index } = parseRef(ref);
    const tx = txs.get(toHex(id)) ?? { id, spends: [], outputs: [] };
    txs.set(toHex(id), tx);
    tx.outputs.push({ index, bytes: fromHex(txOut) });
  }
  const spender = { id: hashOf(0x80 + height), spends: spent.map(({ ref }) => parseRef(ref)), outputs: [] };
  return plainBlock(height, hashOf(height), height === 1 ? null : hashOf(height - 1), [...txs.values(), spender]);
}

function assertRoots(rig: MmrRig, { size, pmmrRoot, bitmapRoot, merged, unspentLeafIndices }: Roots, when: string): void {
  assert.deepEqual(rig.roots(), { size, pmmrRoot, bitmapRoot, merged }, when);
  const leaves = Array.from(rig.engine.scan('mmr_leaf'), ([, value]) => Number(BigInt(`0x${toHex(value)}`)));
  assert.deepEqual(
    leaves.sort((a, b) => a - b),
    unspentLeafIndices,
    when,
  );
}

describe('the blocks of the specification', () => {
  const { blocks, rewind } = needsVectors.skip === false ? readVectors<Vectors>('mmr-utxo.json') : { blocks: [], rewind: [] };

  it('leave their records, in groups and one by one', needsVectors, () => {
    for (const size of [1, 2, 5]) {
      const rig = mmrRig(plainLedger);
      rig.apply(blocks.map(blockOf), [size]);
      assertRoots(rig, blocks[blocks.length - 1], `in groups of ${size}`);
      rig.read((query) => {
        for (const block of blocks) {
          const { mmr: done } = query.changes(query.blockAtHeight(block.height)!);
          assert.deepEqual(done?.inserts, [block.prevSize, block.size]);
          assert.deepEqual(
            done?.deletes,
            block.spent.map(({ leafIndex }) => leafIndex),
          );
          assert.deepEqual(
            done?.peaks.map((peak) => toHex(peak)),
            block.peaks,
          );
          assert.equal(toHex(done.root), block.merged);
          assert.deepEqual(rig.roots(blockOf(block)).bitmapRoot, block.bitmapRoot);
        }
      });
    }
  });

  it('are gone back to exactly', needsVectors, () => {
    for (const { to, expect } of rewind) {
      const rig = mmrRig(plainLedger);
      rig.apply(blocks.slice(0, to).map(blockOf), [3]);
      const before = dump(rig.engine);
      rig.apply(blocks.slice(to).map(blockOf), [2]);
      rig.fold.rollback(blockOf(blocks[to - 1]));
      assertRoots(rig, expect, `back at ${to}`);
      assertSameDump(dump(rig.engine), before, `back at ${to}`);
    }
  });

  it('are proven: every output unspent until it is spent', needsVectors, () => {
    const rig = mmrRig(plainLedger);
    rig.apply(blocks.map(blockOf), [5]);
    const outputs = blocks.flatMap(({ created }) => created);
    rig.read((query) => {
      for (const block of blocks) {
        const range = query.mmr(blockOf(block));
        for (const { ref, txOut, leafIndex } of outputs) {
          const { id, index } = parseRef(ref);
          const isThere = mmr.leafPosition(leafIndex) < block.size;
          assert.equal(range.leafIndex(id, index), isThere ? leafIndex : null);
          if (!isThere) continue;
          const status = block.unspentLeafIndices.includes(leafIndex) ? 'unspent' : 'spent';
          const content = mmr.leafContent(id, index, fromHex(txOut));
          assert.deepEqual(mmr.verifyUtxo(fromHex(block.merged), content, range.prove(leafIndex)), { ok: true, status });
        }
      }
    });
  });
});
