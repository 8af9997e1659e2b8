/**
 * The block that a snapshot is of, from its header: nothing the manifest says of
 * it is believed. The header hashes to the block's hash, and on Cardano it says
 * height, slot and whether it is a boundary block. A header of the Bitcoin
 * family does not say its height; there it is the greatest height among the
 * outputs, because what a coinbase pays cannot be spent for a hundred blocks.
 */
import type { HeaderFacts, Ledger } from '../ledgers/ledger.ts';
import { chainKey, headerRow, readChainRow } from '../projections/chain.ts';
import type { Base } from '../state/base.ts';
import { fromHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { invalid, type SnapshotManifest } from './manifest.ts';

type BlockFacts = Pick<SnapshotManifest, 'point' | 'era' | 'header'>;

/** Throws SNAPSHOT_INVALID when the manifest says anything else of the block than its header does. */
export function baseOf({ point, era, header: text }: BlockFacts, ledger: Ledger): Base {
  const header = fromHex(text);
  const facts = readFacts(ledger, header, era);
  const { height, slot, boundary } = facts.place ?? { height: point.height, slot: point.height, boundary: false };
  const pairs = [
    ['hash', point.hash, ledger.formatId(facts.hash)],
    ['height', point.height, height],
    ['slot', point.slot, slot],
    ['boundary', point.boundary, boundary],
  ] as const;
  for (const [name, said, is] of pairs) if (said !== is) throw invalid(`says ${name} ${said}, and the header of its block ${is}`);
  const value = headerRow(facts, slot, era);
  const row = readChainRow(chainKey(height, boundary), value);
  return { row, value, header: ledger.headers.inExtra(row.extra) === undefined ? header : undefined };
}

/** Whether the height of the block is shown, by its header or by the set: `newest` is the greatest height among the outputs. */
export function isPlaced({ point, era, header }: BlockFacts, ledger: Ledger, newest: number): boolean {
  return readFacts(ledger, fromHex(header), era).place !== null || newest === point.height;
}

function readFacts(ledger: Ledger, header: Uint8Array, era: number): HeaderFacts {
  try {
    return ledger.headers.read(header, era);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID') && !isUnspentError(error, 'NETWORK_WRONG')) throw error;
    throw invalid(`has a header that is none: ${error.message}`, error);
  }
}
