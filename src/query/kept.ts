/**
 * What a store keeps, seen through one snapshot of it. Whoever reads asks here
 * first, so that a column that is not there, or not filled yet, is an error
 * that says so and never an empty answer.
 */
import type { Reader } from '../engine/engine.ts';
import type { OutputTraits } from '../ledgers/ledger.ts';
import { indexColumn } from '../projections/index/by-key.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { DELTA } from '../state/delta.ts';
import { readFills } from '../state/fill.ts';
import { UnspentError } from '../util/errors.ts';
import { isKeyKind } from './output-keys.ts';
import type { IndexKind } from './view.ts';

/** The setting that switches an index on. */
const INDEX_SETTINGS: Readonly<Record<IndexKind, string>> = {
  address: 'utxo.index.addressHash',
  payment: 'utxo.index.paymentCredential',
  stake: 'utxo.index.stakeCredential',
  policy: 'utxo.index.policy',
  asset: 'utxo.index.asset',
  datum: 'utxo.index.datumHash',
  script: 'utxo.index.referenceScript',
};

export class Kept {
  readonly reader: Reader;
  private readonly columns: ReadonlySet<string>;
  private readonly given: OutputTraits | null | undefined;
  private fills: ReadonlyMap<string, Uint8Array> | null = null;

  constructor(reader: Reader, columns: readonly string[], traits: OutputTraits | null | undefined) {
    this.reader = reader;
    this.columns = new Set(columns);
    this.given = traits;
  }

  /** What the outputs of this ledger carry; null: nothing. Not to be told which ledger it is would make assets vanish. */
  get traits(): OutputTraits | null {
    if (this.given === undefined) throw new UnspentError('UNSUPPORTED', 'this query was not told the traits of its ledger');
    return this.given;
  }

  /** What it takes to find keys of this kind in an output: those of its owner stand in its header. */
  traitsFor(kind: IndexKind): OutputTraits | null {
    return isKeyKind(kind) ? null : this.traits;
  }

  /** Projections that were switched on later and still lack rows, with how far each is. */
  get filling(): ReadonlyMap<string, Uint8Array> {
    this.fills ??= readFills(this.reader);
    return this.fills;
  }

  has(column: string): boolean {
    return this.columns.has(column);
  }

  isReady(column: string, projection: string): boolean {
    return this.columns.has(column) && !this.filling.has(projection);
  }

  need(column: string, setting: string, projection?: string): void {
    if (!this.columns.has(column))
      throw new UnspentError('UNSUPPORTED', `this store does not keep ${column} (${setting} is off)`, { column, setting });
    if (projection !== undefined && this.filling.has(projection))
      throw new UnspentError('INDEX_NOT_READY', `${column} is still being filled (${setting} was switched on later)`, {
        column,
        projection,
      });
  }

  needUnspent(): void {
    this.need(UNSPENT, 'utxo.enabled');
  }

  /** The undo records: what blocks did. Kept by every store, but not in every snapshot. */
  needDeltas(): void {
    if (!this.columns.has(DELTA)) throw new UnspentError('UNSUPPORTED', 'this query was made without the undo records');
  }

  hasIndex(kind: IndexKind): boolean {
    return this.isReady(indexColumn(kind), `index.${kind}`);
  }

  /** The column of an index that answers in full. */
  index(kind: IndexKind): string {
    this.needUnspent();
    const column = indexColumn(kind);
    this.need(column, INDEX_SETTINGS[kind], `index.${kind}`);
    return column;
  }
}
