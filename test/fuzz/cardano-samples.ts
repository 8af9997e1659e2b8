/** Blocks to damage and to write otherwise: of a devnet, and real ones of every era where they are at hand. */
import { readdirSync } from 'node:fs';
import { DevnetChain } from '../../src/chains/cardano/devnet/index.ts';
import { decodeBlock } from '../../src/ledgers/cardano/decode.ts';
import { Cursor } from '../../src/util/cbor.ts';
import { fixtures, hasFixtures, readFixture } from '../support/fixtures.ts';

export const EPOCH_SLOTS = 21_600;
const SMALL_BYTES = 8_000;

export const devnet = new DevnetChain({ seed: 7 });
export const madeBlocks = Array.from({ length: 120 }, () => devnet.mine());
const realNames = hasFixtures ? readdirSync(fixtures('cardano', 'blocks')).filter((name) => name.endsWith('.cbor')) : [];
export const realBlocks: Uint8Array[] = realNames.map((name) => new Uint8Array(readFixture('cardano', 'blocks', name)));
// The real boundary blocks are too large for this; the golden one has 87 bytes.
if (hasFixtures) realBlocks.push(goldenBoundary());
export const blocks = [...madeBlocks, ...realBlocks].filter(({ length }) => length < 100_000);
export const smallBlocks = blocks.filter(({ length }) => length < SMALL_BYTES);

export const decoded = blocks.map((raw) => decodeBlock(raw, EPOCH_SLOTS));

function goldenBoundary(): Uint8Array {
  const cursor = new Cursor(readFixture('cardano', 'golden', 'n2n-CardanoNodeToNodeVersion2', 'Block_Byron_EBB'));
  cursor.tag();
  return new Uint8Array(cursor.byteString());
}
