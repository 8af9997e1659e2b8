/**
 * Blocks and epochs. What only transactions or headers tell and is not kept
 * (fees, sums, keys of VRF) is null.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { poolId } from '../../../ledgers/cardano/bech32-ids.ts';
import { epochToSlot, slotToEpoch, slotToTime } from '../../../ledgers/cardano/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { wrongParameter } from '../../http/parameters.ts';
import { type BlockfrostAnswers, notFound } from './answer.ts';
import { cutPage, readPage } from './page.ts';

const HASH_BYTES = 32;

interface Params {
  readonly block: string;
  readonly epoch: string;
}

export function registerBlocks(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const give = (path: string, find: BlockFinder, write: (query: Query, row: ChainRow, request: FastifyRequest) => object): void => {
    app.get(path, (request, reply) => {
      answers.give(request, reply, (query) => {
        const row = find(query, request.params as Params);
        if (row === null) throw notFound('there is no such block on our chain');
        return write(query, row, request);
      });
    });
  };
  const block = (query: Query, row: ChainRow): object => blockJson(query, row, answers);
  give('/blocks/latest', latestBlock, block);
  give('/blocks/slot/:block', blockOfSlot, block);
  give('/blocks/:block', blockByName, block);
  give('/blocks/latest/txs', latestBlock, blockTxIds);
  give('/blocks/:block/txs', blockByName, blockTxIds);

  app.get('/epochs/latest', (request, reply) => {
    answers.give(request, reply, (query) => epochJson(query, request, latestEpoch(query, answers), answers));
  });
  app.get('/epochs/:epoch', (request, reply) => {
    const epoch = numberOf((request.params as Params).epoch, 'epoch');
    answers.give(request, reply, (query) => epochJson(query, request, epoch, answers));
  });
}

type BlockFinder = (query: Query, params: Params) => ChainRow | null;

const latestBlock: BlockFinder = (query) => query.headRow();

const blockOfSlot: BlockFinder = (query, { block }) => {
  const row = query.blockAtSlot(numberOf(block, 'slot'));
  return row?.slot === Number(block) ? row : null;
};

const blockByName: BlockFinder = (query, { block }) => {
  if (isHex(block, HASH_BYTES)) return query.blockByHash(fromHex(block));
  return query.blockAtHeight(numberOf(block, 'block'));
};

/** Throws UNSUPPORTED where no history is kept, PRUNED where it does not go back so far. */
function blockTxIds(query: Query, { height, boundary }: ChainRow, request: FastifyRequest): readonly string[] {
  return cutPage(boundary ? [] : query.history().ids(height), readPage(request)).map(hexOf);
}

/** Of the newest block. Throws NOT_FOUND where there is none. */
export function latestEpoch({ head }: Query, { network }: BlockfrostAnswers): number {
  if (head === null) throw notFound('there is no block yet');
  return slotToEpoch(network, head.slot);
}

export function numberOf(text: string, field: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw wrongParameter(field, `it is a whole number, not '${text.slice(0, 100)}'`);
}

function blockJson(query: Query, row: ChainRow, { network }: BlockfrostAnswers): object {
  const epoch = slotToEpoch(network, row.slot);
  const next = query.blockAfter(row);
  return {
    time: Math.floor(slotToTime(network, row.slot)),
    height: row.height,
    hash: hexOf(row.hash),
    slot: row.slot,
    epoch,
    epoch_slot: row.slot - epochToSlot(network, epoch),
    // Blocks of Byron are made by keys of genesis, whose names the store does not have.
    slot_leader: row.extra.length === 0 ? 'ByronGenesis' : poolId(row.extra),
    size: row.size,
    tx_count: row.txCount,
    output: null,
    fees: null,
    block_vrf: null,
    op_cert: null,
    op_cert_counter: null,
    previous_block: row.prevHash.every((byte) => byte === 0) ? null : hexOf(row.prevHash),
    next_block: next === null ? null : hexOf(next.hash),
    confirmations: (query.head?.height ?? row.height) - row.height,
  };
}

/** Counted from the rows of its blocks, in slices. */
function epochJson(query: Query, { task }: FastifyRequest, epoch: number, { network }: BlockfrostAnswers): object | Promise<object> {
  const [start, end] = [epochToSlot(network, epoch), epochToSlot(network, epoch + 1)];
  const before = start === 0 ? null : query.blockAtSlot(start - 1);
  let [first, last]: (ChainRow | null)[] = [null, null];
  let [blocks, txs] = [0, 0];
  const count = (row: ChainRow): boolean => {
    if (row.slot >= end) return false;
    if (row.boundary || row.slot < start) return true;
    first ??= row;
    last = row;
    blocks++;
    txs += row.txCount;
    return true;
  };
  const time = (slot: number): number => Math.floor(slotToTime(network, slot));
  return task.inSlices(query.blocksAfter(before), count, () => {
    if (first === null || last === null) throw notFound(`no block of epoch ${epoch} is known`);
    return {
      epoch,
      start_time: time(start),
      end_time: time(end),
      first_block_time: time(first.slot),
      last_block_time: time(last.slot),
      block_count: blocks,
      tx_count: txs,
      output: null,
      fees: null,
      active_stake: null,
    };
  });
}
