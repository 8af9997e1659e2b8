/**
 * Brings a store of an earlier format to the one of this version. Nobody opens a
 * store that is on its way: while it is, unspent.json has the new schema, which
 * keeps earlier versions out, and a mark, which keeps this one out. To stop in the
 * middle, or to be killed, is to go on with the same command.
 */
import type { Config } from '../../config/schema.ts';
import { readAnyIdentity, SCHEMA_VERSION, writeIdentity } from '../../engine/directory.ts';
import type { Engine, EngineFactory } from '../../engine/engine.ts';
import { openNetwork } from '../../families/networks.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import type { ProjectionEntry } from '../../projections/entry.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { COPY_BATCH_BYTES } from '../../util/limits.ts';
import { checkOwnEngine, openEngine } from '../directory.ts';
import type { StoreIdentity } from '../identity.ts';
import { configFrom, type SettingValues } from '../options.ts';
import { checkOwner } from '../owner.ts';
import { storeProjections } from '../projections.ts';
import { planShape, type ShapeChange } from '../shape.ts';
import { dropUpgradeCursor, readUpgradeCursor, rewriteColumn } from './rewrite.ts';
import { stepsFrom, type UpgradeStep } from './steps.ts';

/** Which store is upgraded, and how. */
export interface UpgradeOptions {
  /** Directory of the store. Default: the setting `data`. */
  readonly data?: string | undefined;
  /** Settings. They go before environment variables (`UNSPENT_*`) and ./unspent.toml. */
  readonly settings?: SettingValues | undefined;
  /**
   * All settings, loaded already; `settings` is then left aside.
   * @internal
   */
  readonly config?: Config | undefined;
  /** The program's own projections that it keeps. */
  readonly projections?: readonly ProjectionEntry[] | undefined;
  /** The program's own engine, if it was made with one. */
  readonly engine?: EngineFactory | undefined;
  /** Only says what would be done. Default false. */
  readonly dryRun?: boolean | undefined;
  /**
   * Bytes of rows in one batch.
   * @internal
   */
  readonly batchBytes?: number | undefined;
  /** Aborting it stops the work; the next call goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then which column is rewritten, and how many of its rows were since it began or went on. */
  readonly onProgress?: ((column: string, rows: number) => void) | undefined;
}

/** What an upgrade did, or would do. */
export interface UpgradeReport {
  /** The format the store had. */
  readonly from: number;
  /** The one it has now, or would have. */
  readonly to: number;
  /** Each step, in a line. */
  readonly steps: readonly string[];
  /** Whether it was begun before. */
  readonly resumed: boolean;
}

/** Throws STORE_MISSING, STORE_SCHEMA where there is no way, UNSUPPORTED, STORE_SHAPE, STORE_ENGINE, STORE_OWNER, STORE_LOCKED, INTERRUPTED. */
export async function upgradeStore(options: UpgradeOptions = {}): Promise<UpgradeReport> {
  const config = configFrom(options);
  const data = options.data ?? config.data;
  const identity = readAnyIdentity(data) as StoreIdentity | null;
  if (identity === null) throw new UnspentError('STORE_MISSING', `there is no store in ${data}`, { data });
  const { upgrading, ...facts } = identity;
  const from = upgrading?.from ?? identity.schema;
  const steps = stepsFrom(from, SCHEMA_VERSION);
  if (steps === null)
    throw new UnspentError(
      'STORE_SCHEMA',
      `the store in ${data} has schema ${from}; this version upgrades to ${SCHEMA_VERSION}, and not from there`,
      {
        data,
        schema: from,
      },
    );
  for (const step of steps) step.check?.(identity);
  const report = { from, to: SCHEMA_VERSION, steps: steps.map(({ what }) => what), resumed: upgrading !== undefined };
  if (options.dryRun === true || (steps.length === 0 && upgrading === undefined)) return report;
  checkOwner(data);
  checkOwnEngine(identity, options.engine, data);
  const { ledger } = openNetwork(identity.network, null, identity.parameters);
  const shape = planShape(identity, null, ledger, storeProjections(options.projections));
  const made = new Set(steps.flatMap((step) => step.makes?.(ledger) ?? []));
  const { columns } = shape.after;
  assert(columns !== undefined, 'a shape says which columns there are');
  const isThere = (name: string): boolean => !made.has(name) || identity.columns?.includes(name) === true;
  const open = ({ projections, retired, existing }: ShapeChange): Promise<Engine> =>
    openEngine(data, config, { projections, retired, existing: existing.filter((name) => !made.has(name)) }, options.engine);
  if (upgrading === undefined)
    await prepare(await open(without(shape, isThere)), steps, () => writeIdentity(data, { ...identity, columns }));
  const engine = await open(shape);
  try {
    // Whoever has the database open is alone: only now may the store say that it is on its way.
    for (const step of steps) {
      writeIdentity(data, { ...facts, columns, schema: SCHEMA_VERSION, upgrading: { from: step.from } });
      await runStep(engine, step, ledger, options);
    }
    writeIdentity(data, { ...facts, columns, schema: SCHEMA_VERSION, upgrading: { from: SCHEMA_VERSION } });
    dropUpgradeCursor(engine);
  } finally {
    await engine.close();
  }
  writeIdentity(data, { ...facts, columns, schema: SCHEMA_VERSION });
  return report;
}

/**
 * What comes before the first change: the rows of the store as it is are checked, and it says which columns it is about
 * to have. If it goes no further, the version before still opens it: of a column that is named and that it does not know
 * it takes no notice.
 */
async function prepare(engine: Engine, steps: readonly UpgradeStep[], nameColumns: () => void): Promise<void> {
  try {
    for (const step of steps) step.checkRows?.(engine);
    nameColumns();
  } finally {
    await engine.close();
  }
}

/** The shape with the columns only that are there. */
function without(shape: ShapeChange, isThere: (column: string) => boolean): ShapeChange {
  const projections = shape.projections.map((projection) => ({
    ...projection,
    columns: projection.columns.filter(({ name }) => isThere(name)),
  }));
  return { ...shape, projections };
}

async function runStep(engine: Engine, { from, columns }: UpgradeStep, ledger: Ledger, options: UpgradeOptions): Promise<void> {
  const { signal, onProgress, batchBytes = COPY_BATCH_BYTES } = options;
  const found = readUpgradeCursor(engine);
  const begin = found?.from === from ? found : { from, column: 0, key: new Uint8Array(0) };
  for (const [number, column] of columns(ledger).entries()) {
    if (number < begin.column) continue;
    const at = number === begin.column ? begin : { from, column: number, key: new Uint8Array(0) };
    const onRows = (rows: number): void => {
      onProgress?.(column.name, rows);
      if (signal?.aborted)
        throw new UnspentError('INTERRUPTED', 'stopped; run `unspent upgrade` again, and it goes on', {
          advice: 'Until it is done nobody can open the store.',
        });
    };
    await rewriteColumn(engine, column, at, { batchBytes, onRows });
  }
}
