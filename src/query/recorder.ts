/**
 * Query rows as interchange records: what `render.ts` is to JSON.
 */
import type { ChainRow } from '../projections/chain.ts';
import { toHex } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import type { BlockChanges } from './changes.ts';
import type { Dialect } from './dialect.ts';
import { type Blocks, Places } from './places.ts';
import type { BlockDelta } from './record-delta.ts';
import type { OutputEntry, SpentRecord, UtxoRecord } from './records.ts';
import type { Utxo } from './utxo.ts';

/** Makes records of the rows of one query. It remembers blocks. */
export class Recorder {
  private readonly places: Places;
  private readonly dialect: Dialect;

  constructor(query: Blocks, dialect: Dialect) {
    this.places = new Places(query, dialect);
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

  /** `carried`: with the records of the outputs, not only their names. */
  delta(row: ChainRow, { txs, created, spent, mmr }: BlockChanges, carried: boolean): BlockDelta {
    const entry = (utxo: Utxo, record: () => UtxoRecord | SpentRecord): OutputEntry => {
      return { txId: utxo.txId, index: utxo.index, record: carried ? record() : null };
    };
    const creators = new Set(created.map(({ txId }) => toHex(txId)));
    return {
      ...{ block: row.height, slot: row.slot, blockHash: row.hash },
      created: created.map((utxo) => entry(utxo, () => this.utxo(utxo))),
      spent: spent.map((utxo) => entry(utxo, () => this.spent(utxo, utxo.spent))),
      // All that an invalid transaction can create is what comes back of its collateral.
      invalid: txs.filter((tx) => !tx.valid).map(({ id }) => ({ txId: id, hadCollateralReturn: creators.has(toHex(id)) })),
      mmr,
    };
  }

  private spent(utxo: Utxo, spent: Utxo['spent']): SpentRecord {
    assert(spent !== null, 'an output in the list of spent ones is spent');
    const { block, epoch, time } = this.places.at(spent.height, spent.slot);
    return {
      spentBy: spent.txId,
      ...{ slot: spent.slot, block: spent.height, blockHash: block?.row.hash ?? null, time: whole(time), epoch },
      before: this.utxo(utxo),
    };
  }
}

function whole(seconds: number | null): number | null {
  return seconds === null ? null : Math.floor(seconds);
}
