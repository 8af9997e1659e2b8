/**
 * A block as Esplora's JSON has it, from its row in the chain: the row carries
 * the header, and the median of times is of the eleven headers that end here.
 */
import { formatId, readExtra, readHeader } from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { Query } from '../../../query/query.ts';
import type { TxStatus } from './tx-json.ts';

/** Headers whose times a node takes the median of. */
const MEDIAN_SPAN = 11;

export function blockJson(query: Query, row: ChainRow): Readonly<Record<string, unknown>> {
  const { weight, header } = readExtra(row.extra);
  const { version, prevHash, merkleRoot, time, bits, nonce } = readHeader(header);
  return {
    id: formatId(row.hash),
    height: row.height,
    version: version >>> 0,
    timestamp: time,
    // A store that began with a snapshot knows none of these of the block it began with.
    tx_count: row.size === 0 ? null : row.txCount,
    size: row.size === 0 ? null : row.size,
    weight: row.size === 0 ? null : weight,
    merkle_root: formatId(merkleRoot),
    previousblockhash: row.height === 0 ? null : formatId(prevHash),
    mediantime: medianTime(query, row),
    nonce,
    bits,
    difficulty: difficultyOf(bits),
  };
}

function timeOf(row: ChainRow): number {
  return readHeader(readExtra(row.extra).header).time;
}

export function statusOf(row: ChainRow): TxStatus {
  return { confirmed: true, block_height: row.height, block_hash: formatId(row.hash), block_time: timeOf(row) };
}

function medianTime(query: Query, row: ChainRow): number {
  const times = [timeOf(row)];
  for (let height = row.height - 1; height >= 0 && times.length < MEDIAN_SPAN; height--) {
    const before = query.blockAtHeight(height);
    // A store that began in the middle has fewer.
    if (before === null) break;
    times.push(timeOf(before));
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

/** How much harder than the easiest target of the main network, by the steps in which a node computes it. */
export function difficultyOf(bits: number): number {
  let difficulty = 0xffff / (bits & 0x00ff_ffff);
  for (let shift = bits >>> 24; shift < 29; shift++) difficulty *= 256;
  for (let shift = bits >>> 24; shift > 29; shift--) difficulty /= 256;
  return difficulty;
}
