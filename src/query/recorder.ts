/**
 * Query rows as interchange records: what `render.ts` is to JSON.
 */
import type { ChainRow } from '../projections/chain.ts';
import type { StepTx } from '../projections/projection.ts';
import { toHex } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import { type BlockLookup, BlockPositions } from './block-positions.ts';
import type { BlockChanges, BlockNames } from './changes.ts';
import type { Dialect } from './dialect.ts';
import type { BlockDelta, CompactDelta, RecordedOutpoint, SelfContainedDelta } from './record-delta.ts';
import type { OutputEntry, SpentRecord, UtxoRecord } from './records.ts';
import type { Utxo } from './utxo.ts';

/** Makes records of the rows of one query. It remembers blocks. */
export class Recorder {
  private readonly places: BlockPositions;
  private readonly dialect: Dialect;

  constructor(query: BlockLookup, dialect: Dialect) {
    this.places = new BlockPositions(query, dialect);
    this.dialect = dialect;
  }

  /** The output with its name: what a list is made of. */
  entry(utxo: Utxo): OutputEntry {
    const { txId, index, spent } = utxo;
    return { txId, index, record: spent === null ? this.utxo(utxo) : this.spent(utxo, spent) };
  }

  /** As it was before it was spent, if it was. */
  utxo(utxo: Utxo): UtxoRecord {
    const { height, slot } = utxo.output;
    const { block, epoch, time } = this.places.at(height, slot);
    return { ...this.dialect.outputFields(utxo), slot, block: height, blockHash: block?.row.hash ?? null, epoch, blockTime: whole(time) };
  }

  /** With the records of the outputs. */
  delta(row: ChainRow, { txs, created, spent, mmr }: BlockChanges): SelfContainedDelta {
    return {
      ...headOf(row, txs, created),
      form: 'self-contained',
      created: created.map((utxo) => ({ txId: utxo.txId, index: utxo.index, record: this.utxo(utxo) })),
      spent: spent.map((utxo) => {
        assert(utxo.spent !== null, 'an output in the list of spent ones is spent');
        return { txId: utxo.txId, index: utxo.index, before: this.utxo(utxo), spentBy: utxo.spent.txId };
      }),
      mmr,
    };
  }

  private spent(utxo: Utxo, spent: Utxo['spent']): SpentRecord {
    assert(spent !== null, 'an output in the list of spent ones is spent');
    const { block, epoch, time } = this.places.at(spent.height, spent.slot);
    return {
      spentBy: spent.txId,
      slot: spent.slot,
      block: spent.height,
      blockHash: block?.row.hash ?? null,
      time: whole(time),
      epoch,
      before: this.utxo(utxo),
    };
  }
}

function whole(seconds: number | null): number | null {
  return seconds === null ? null : Math.floor(seconds);
}

/** With the names of the outputs only. */
export function compactDelta(row: ChainRow, { txs, created, spent, mmr }: BlockNames): CompactDelta {
  return { ...headOf(row, txs, created), form: 'compact', created, spent, mmr };
}

/** All that an invalid transaction can create is what comes back of its collateral. */
function headOf(
  { height, slot, hash }: ChainRow,
  txs: readonly StepTx[],
  created: readonly RecordedOutpoint[],
): Pick<BlockDelta, 'block' | 'slot' | 'blockHash' | 'invalid'> {
  const creators = new Set(created.map(({ txId }) => toHex(txId)));
  const invalid = txs.filter((tx) => !tx.valid).map(({ id }) => ({ txId: id, hadCollateralReturn: creators.has(toHex(id)) }));
  return { block: height, slot, blockHash: hash, invalid };
}
