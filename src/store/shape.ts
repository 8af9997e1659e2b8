/**
 * The shape of a store: which projections it keeps, and how that changes. One
 * that is switched on later starts to fill (`state/fill.ts`); the columns of one
 * that is switched off are emptied, because RocksDB's binding cannot drop them.
 *
 * unspent.json says which projections can be relied on. A projection leaves it
 * before its rows are touched, and enters it when its columns are known to be
 * empty and its fill has begun. A crash in between leaves a projection that is
 * not in it, and that one starts anew.
 */
import { type Config, type SettingKey, settingValue } from '../config/schema.ts';
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { CHAIN } from '../projections/chain.ts';
import type { Projection } from '../projections/projection.ts';
import { everyProjection, type ProjectionTable, selectProjections, wantedNames } from '../projections/registry.ts';
import { writeStartHeight } from '../projections/start-height.ts';
import { deltaColumn } from '../state/delta.ts';
import { deleteFill, readFills, writeFillStart } from '../state/fill.ts';
import { readHead } from '../state/head.ts';
import { UnspentError } from '../util/errors.ts';
import type { SettingReader } from '../util/setting.ts';

/** What unspent.json says about it. */
export interface Shape {
  /** Names of the projections that are kept, filling or ready. */
  readonly projections: readonly string[];
  /** Every column the database may have. Absent: written by a version that knew no others than those of its projections. */
  readonly columns?: readonly string[];
}

export interface ShapeChange {
  /** To be kept from now on. */
  readonly projections: readonly Projection[];
  readonly added: readonly Projection[];
  /** Names. */
  readonly removed: readonly string[];
  /** What unspent.json says while the change is under way, and when it is done. */
  readonly during: Shape;
  readonly after: Shape;
  /** Columns the database may have that no projection uses any more. */
  readonly retired: readonly string[];
  /** Columns the database has if it holds anything: those of the projections that unspent.json relies on. */
  readonly existing: readonly string[];
  /** Keys of reserved rows that no projection uses any more, or that are to begin anew. */
  readonly stale: readonly Uint8Array[];
}

/**
 * `have` null: a new store. `config`: what it should be, from `settingsOf`; null: as it is. `made`: the settings that its
 * projections are made with, where `config` is null; absent: their defaults. Throws STORE_SHAPE, UNSUPPORTED.
 */
export function planShape(
  have: Shape | null,
  config: Config | null,
  ledger: Ledger,
  table: ProjectionTable,
  made: Config | null = config,
): ShapeChange {
  const wanted = config === null ? [] : wantedProjections(config, ledger, table);
  const readSetting = made === null ? undefined : settingReader(made);
  const every = everyProjection(ledger, table, readSetting);
  if (have === null) return change(wanted, [], [], { projections: [], columns: [] }, every);
  const kept = every.filter((projection) => have.projections.includes(projection.name));
  const unknown = have.projections.filter((name) => !kept.some((projection) => projection.name === name));
  if (unknown.length > 0) {
    throw new UnspentError('STORE_SHAPE', `the store keeps ${unknown.join(', ')}, which this version does not know`, { unknown });
  }
  const shape = { projections: have.projections, columns: have.columns ?? columnNames(kept) };
  if (config === null) return change(kept, [], [], shape, every);
  const added = wanted.filter((projection) => !have.projections.includes(projection.name));
  const removed = kept.filter((projection) => !wanted.some(({ name }) => name === projection.name));
  if (removed.some((projection) => !isSwitchable(projection))) throw shapeError(have, wanted);
  const late = added.filter((projection) => !isSwitchable(projection));
  if (late.length > 0) throw lateError(have, late);
  return change(wanted, added, names(removed), shape, every);
}

/** Whether it can be switched on and off in a store that has blocks. */
function isSwitchable({ fillable, startsLate }: Projection): boolean {
  return fillable !== undefined || startsLate === true;
}

function settingReader(config: Config): SettingReader {
  return (key) => settingValue(config, key as SettingKey);
}

function wantedProjections(config: Config, ledger: Ledger, table: ProjectionTable): readonly Projection[] {
  const readSetting = settingReader(config);
  return selectProjections(wantedNames(readSetting, ledger, table), ledger, table, readSetting);
}

function change(
  projections: readonly Projection[],
  added: readonly Projection[],
  removed: readonly string[],
  have: Shape,
  every: readonly Projection[],
): ShapeChange {
  const opened = columnNames(projections);
  const columns = [...new Set([...(have.columns ?? []), ...opened])];
  return {
    projections,
    added,
    removed,
    during: { projections: have.projections.filter((name) => !removed.includes(name)), columns },
    after: { projections: names(projections), columns },
    retired: columns.filter((column) => !opened.includes(column)),
    existing: have.projections.length === 0 ? [] : columnNames(every.filter(({ name }) => have.projections.includes(name))),
    stale: [...every.filter(({ name }) => !projections.some((kept) => kept.name === name)), ...added].flatMap(
      ({ reserved }) => reserved ?? [],
    ),
  };
}

/** Makes the columns of what was added empty, and begins to fill them. On return it is on the disk. */
export function beginFills(engine: Engine, { projections, added, stale }: ShapeChange): void {
  const columns = added.flatMap((projection) => projection.columns);
  for (const { name } of columns) if ([...engine.scan(name, { limit: 1 })].length > 0) engine.clear(name);
  const batch = engine.batch();
  for (const key of stale) if (engine.get(CHAIN, key) !== undefined) batch.del(CHAIN, key);
  for (const name of readFills(engine).keys()) if (!projections.some((projection) => projection.name === name)) deleteFill(batch, name);
  const head = readHead(engine);
  for (const { name, startsLate } of added) {
    // An empty store has nothing to fill from: its next block is for this projection, too.
    if (head === null) deleteFill(batch, name);
    else if (startsLate === true) writeStartHeight(batch, name, head.height + 1);
    else writeFillStart(batch, name);
  }
  if (batch.size > 0) batch.commit({ fsync: true });
}

function names(projections: readonly Projection[]): string[] {
  return projections.map((projection) => projection.name);
}

function columnNames(projections: readonly Projection[]): string[] {
  return [...projections.flatMap((projection) => projection.columns), deltaColumn].map((column) => column.name);
}

function shapeError({ projections: have }: Shape, wanted: readonly Projection[]): UnspentError {
  const want = names(wanted);
  return new UnspentError('STORE_SHAPE', `the store keeps ${have.join(', ')}; the settings ask for ${want.join(', ')}`, { have, want });
}

/** What is switched on for a store that cannot make it any more from what it has. */
function lateError({ projections: have }: Shape, late: readonly Projection[]): UnspentError {
  const want = names(late);
  const message = `${want.join(', ')} cannot be switched on for a store that has begun without: blocks say what the unspent set does not. Sync a new store with it on, in another directory`;
  return new UnspentError('STORE_SHAPE', message, { have, want });
}
