/**
 * What opening a store does to its directory: makes it, changes its shape, and
 * takes back what it made where it came to nothing.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/schema.ts';
import { databaseDirectory, removeStore, STORE_ENTRIES, writeIdentity } from '../engine/directory.ts';
import type { Engine, EngineFactory } from '../engine/engine.ts';
import { engineOptions, type OwnedEngine, openEngineIn } from '../engine/open.ts';
import type { Network } from '../families/family.ts';
import { openNetwork } from '../families/networks.ts';
import type { ProjectionTable } from '../projections/registry.ts';
import { deltaColumn } from '../state/delta.ts';
import { readHead } from '../state/head.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { planStore, type StoreIdentity, type StorePlan, type StoreRequest } from './identity.ts';
import { checkOwner } from './owner.ts';
import type { AllowedChanges } from './settings.ts';
import { planShape, type Shape, type ShapeChange } from './shape.ts';

/** `own`: an engine of the program's own. */
export async function openEngine(
  data: string,
  { engine }: Config,
  { projections, retired, existing }: Pick<ShapeChange, 'projections' | 'retired' | 'existing'>,
  own?: EngineFactory,
): Promise<Engine & Partial<OwnedEngine>> {
  const columns = [...projections.flatMap((projection) => projection.columns), deltaColumn];
  if (own !== undefined) {
    mkdirSync(databaseDirectory(data), { recursive: true });
    return own.open(databaseDirectory(data), columns);
  }
  return openEngineIn(databaseDirectory(data), columns, { ...engineOptions(engine), createIfMissing: true, retired, existing });
}

/** A plan of the store that is there, or of one to be made; `identity` null: of one to be made. */
interface Planned {
  readonly identity: StoreIdentity | null;
  readonly plan: StorePlan;
  readonly shape: ShapeChange;
}

/**
 * Plans the store. One that has no block yet may become anything, even of
 * another network: it is removed, and begins anew. Only where `mayCreate`. Throws STORE_OWNER.
 */
export async function planOpening(
  identity: StoreIdentity | null,
  wishes: StoreRequest,
  may: AllowedChanges,
  mayCreate: boolean,
  table: ProjectionTable,
): Promise<Planned> {
  const planFor = (known: StoreIdentity | null, wanted: StoreRequest): Planned => {
    const plan = planStore(known, wanted, may);
    const config = known === null || may.shape ? plan.config : null;
    return { identity: known, plan, shape: planShape(known, config, plan.network.ledger, table, plan.config) };
  };
  if (identity !== null) checkOwner(wishes.data);
  try {
    return planFor(identity, wishes);
  } catch (error) {
    const isAtOdds =
      isUnspentError(error, 'STORE_NETWORK') || isUnspentError(error, 'STORE_SHAPE') || isUnspentError(error, 'GENESIS_WRONG');
    if (identity === null || !mayCreate || !isAtOdds || !(await isEmpty(wishes, identity, table))) throw error;
    const anew = planFor(null, { ...wishes, ...remembered(identity, wishes) });
    removeStore(wishes.data);
    return anew;
  }
}

/** What an empty store that begins anew keeps unless the caller says otherwise: its network, with its parameters. */
function remembered({ network, parameters }: StoreIdentity, wishes: StoreRequest): Pick<StoreRequest, 'network' | 'parameters'> {
  const wanted = wishes.network ?? wishes.config.network;
  if (wanted !== '' && wanted !== network) return {};
  return (wishes.genesis ?? wishes.config.genesis) === '' ? { network, parameters } : { network };
}

async function isEmpty({ data, config, engine: own }: StoreRequest, identity: StoreIdentity, table: ProjectionTable): Promise<boolean> {
  const { ledger } = openNetwork(identity.network, null, identity.parameters);
  const engine = await openEngine(data, config, planShape(identity, null, ledger, table), own);
  try {
    return readHead(engine) === null;
  } finally {
    await engine.close();
  }
}

/** Only who has the store open may say what it is: another process may be at work on it. */
export async function beginReshape(
  data: string,
  identity: StoreIdentity,
  config: Config,
  network: Network,
  shape: ShapeChange,
  table: ProjectionTable,
  own?: EngineFactory,
): Promise<void> {
  const engine = await openEngine(data, config, planShape(identity, null, network.ledger, table), own);
  try {
    writeIdentity(data, { ...identity, ...shape.during });
  } finally {
    await engine.close();
  }
}

/** What there is before a store is made, so that a store which comes to nothing can be taken back without a trace. */
export class NewDirectory {
  private readonly data: string;
  /** Directories that are not there yet, the innermost first. */
  private readonly missing: readonly string[];

  constructor(data: string) {
    this.data = data;
    const missing: string[] = [];
    for (let path = resolve(data); !existsSync(path); path = dirname(path)) missing.push(path);
    this.missing = missing;
  }

  /** The store must be closed. If there are files in the directory that are not ours, nothing is removed. */
  remove(): void {
    if (!existsSync(this.data)) return;
    if (readdirSync(this.data).some((name) => !STORE_ENTRIES.includes(name))) return;
    removeStore(this.data);
    for (const path of this.missing) {
      if (readdirSync(path).length > 0) return;
      rmdirSync(path);
    }
  }
}

/** What is another now: its shape, its windows, what it keeps of transactions. */
export function rememberChanges(data: string, identity: StoreIdentity, facts: StorePlan['facts'], shape: Shape, isReshaped: boolean): void {
  const { windows, txs } = facts;
  if (!isReshaped && isDeepStrictEqual([identity.windows, identity.txs], [windows, txs])) return;
  writeIdentity(data, { ...identity, ...shape, windows, ...(txs === undefined ? {} : { txs }) });
}

/** Throws STORE_ENGINE where the store was made with an engine of a program's own, and another one is to open it. */
export function checkOwnEngine(identity: StoreIdentity | null, own: EngineFactory | undefined, data: string): void {
  if (identity === null || identity.engine === own?.name) return;
  const made = identity.engine === undefined ? 'one of ours' : `'${identity.engine}'`;
  const given = own === undefined ? 'none was given' : `'${own.name}' was given`;
  throw new UnspentError('STORE_ENGINE', `the store in ${data} was made with the engine ${made}, and ${given}`, { data });
}
