/**
 * The columns of a store, read through one snapshot of it. Every read checks
 * its column here first: if the store does not keep it (its setting is off), or
 * the projection is still being filled, the read throws UNSUPPORTED or
 * INDEX_NOT_READY and never gives an empty answer.
 */
import type { Reader } from '../engine/engine.ts';
import type { Ledger, OutputTraits } from '../ledgers/ledger.ts';
import { indexColumn } from '../projections/index/by-key.ts';
import { switchOf } from '../projections/registry.ts';
import { UNSPENT, utxoEntry } from '../projections/utxo.ts';
import { DELTA } from '../state/delta.ts';
import { readFills } from '../state/fill.ts';
import { UnspentError } from '../util/errors.ts';
import { switchText } from '../util/setting.ts';
import { isKeyKind } from './output-keys.ts';
import type { IndexKind } from './view.ts';

/** What of a ledger it takes to read outputs. */
export type OutputRules = Pick<Ledger, 'traits' | 'ownerKey'>;

export class StoreColumns {
  readonly reader: Reader;
  private readonly columns: ReadonlySet<string>;
  private readonly given: OutputRules | undefined;
  private fills: ReadonlyMap<string, Uint8Array> | null = null;

  constructor(reader: Reader, columns: readonly string[], rules: OutputRules | undefined) {
    this.reader = reader;
    this.columns = new Set(columns);
    this.given = rules;
  }

  /** How outputs of this ledger are read. Throws if the query was made without it, because an answer would lack something. */
  get rules(): OutputRules {
    if (this.given === undefined) throw new UnspentError('UNSUPPORTED', 'this query was not told the rules of its ledger');
    return this.given;
  }

  /** How to find assets, datums and scripts in outputs of this ledger; null: they have none. Throws as `rules`. */
  get traits(): OutputTraits | null {
    return this.rules.traits;
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

  /** Throws UNSUPPORTED where the store does not keep the column, which one of our projections writes. */
  needColumn(column: string, projection: string): void {
    if (this.columns.has(column)) return;
    const setting = switchText(switchOf(projection));
    throw new UnspentError('UNSUPPORTED', `this store does not keep ${column} (${setting} is off)`, { column, setting });
  }

  /** The same, and INDEX_NOT_READY while the column still lacks rows. */
  need(column: string, projection: string): void {
    this.needColumn(column, projection);
    if (!this.filling.has(projection)) return;
    const setting = switchText(switchOf(projection));
    throw new UnspentError('INDEX_NOT_READY', `${column} is still being filled (${setting} was switched on later)`, { column, projection });
  }

  needUnspent(): void {
    this.needColumn(UNSPENT, utxoEntry.name);
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
    this.need(column, `index.${kind}`);
    return column;
  }
}
